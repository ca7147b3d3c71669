"""Speech: sound into lines of text with their times, on the device that really works here."""
