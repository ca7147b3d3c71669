"""Plain sentences about nothing in common: their mean vector is what all texts of a language share.

Written for this file. A change of a sentence is a change of the model: `centres.npy` is made anew
(`python -m seoga_embedding.providers.builtin.e5`), and `CENTRES` in `e5.py` counts up.
"""

from __future__ import annotations

from typing import Final

ENGLISH: Final = (
    "The ferry leaves the harbour at seven in the morning.",
    "Water boils sooner on a high mountain than at the coast.",
    "She repaired the old bicycle with parts from the cellar.",
    "A contract may be ended by either side with a month's notice.",
    "The committee meets again on the second Tuesday of May.",
    "Press the green button and wait until the lamp goes out.",
    "Rice is washed three times before it is cooked.",
    "The function returns a list of names in alphabetical order.",
    "Heavy rain is expected in the north from the evening on.",
    "Patients should drink enough and rest for two days.",
    "The museum shows coins and letters of four centuries.",
    "Sales rose by a tenth in the last quarter.",
    "Owls hunt at night and hear better than they see.",
    "Install the package and restart the server.",
    "The train was late because of a broken signal.",
    "He learned to play the violin when he was forty.",
    "Taxes are due at the end of each quarter.",
    "A triangle with three equal sides has three equal angles.",
    "The bridge was built of stone and carries two lanes.",
    "Please send the signed form back by post.",
    "Children under six travel free of charge.",
    "The new law protects forests near rivers.",
    "Light takes eight minutes from the sun to the earth.",
    "The team lost the match in the last minute.",
)
KOREAN: Final = (
    "배는 아침 일곱 시에 항구를 떠난다.",
    "높은 산에서는 바닷가보다 물이 빨리 끓는다.",
    "그는 창고에 있던 부품으로 낡은 자전거를 고쳤다.",
    "계약은 한 달 전에 알리면 어느 쪽이든 끝낼 수 있다.",
    "위원회는 오월 둘째 화요일에 다시 모인다.",
    "초록색 단추를 누르고 불이 꺼질 때까지 기다리세요.",
    "쌀은 세 번 씻은 뒤에 밥을 짓는다.",
    "이 함수는 이름 목록을 가나다순으로 돌려준다.",
    "저녁부터 북쪽 지방에 큰비가 내리겠습니다.",
    "환자는 물을 충분히 마시고 이틀 동안 쉬어야 한다.",
    "박물관은 네 세기에 걸친 동전과 편지를 보여 준다.",
    "지난 분기 매출은 십 퍼센트 늘었다.",
    "올빼미는 밤에 사냥하며 눈보다 귀가 밝다.",
    "패키지를 설치하고 서버를 다시 시작합니다.",
    "신호기가 고장 나서 기차가 늦었다.",
    "어머니는 마흔 살에 바이올린을 배우기 시작했다.",
    "세금은 분기마다 마지막 날까지 내야 한다.",
    "세 변의 길이가 같은 삼각형은 세 각도 같다.",
    "다리는 돌로 지었고 두 개의 차로가 있다.",
    "서명한 서류를 우편으로 보내 주십시오.",
    "여섯 살이 안 된 어린이는 요금을 내지 않는다.",
    "새 법은 강 가까이에 있는 숲을 지킨다.",
    "빛이 태양에서 지구까지 오는 데 팔 분이 걸린다.",
    "우리 팀은 마지막 일 분에 경기를 내주었다.",
)
