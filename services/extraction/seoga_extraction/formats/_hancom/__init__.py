"""What the forms of a Hangul document (HWPX, HWP 5, HWPML) share: model, numbers, sections."""
