"""The layout of the screens of `sq watch`, in the style language of Textual."""

from orchestrator.views.watch.theme import CHOSEN, GROUND, RAISED

STYLE = f"""
Screen {{ background: {GROUND}; overflow: hidden; }}
Panel {{ height: 1; background: {GROUND}; overflow: hidden; }}
#head, #title, #feed-title, #foot, #band, #sheet-title, #sheet-foot {{ background: {RAISED}; }}
#band {{ display: none; }}
#title {{ height: 3; }}
#body {{ height: 1fr; }}
#left {{ width: 46%; max-width: 72; }}
#right {{ width: 1fr; border-left: solid {CHOSEN}; }}
#tasks {{ height: 1fr; }}
#feed {{ height: 34%; }}
#pane, #runs, #sheet {{ height: 1fr; }}
#sheet {{ padding: 0 1; }}
.alone #left {{ display: none; }}
.alone #right {{ border-left: none; }}
.narrow #right {{ display: none; }}
.narrow #left {{ width: 1fr; max-width: 1000; }}
.narrow.alone #right {{ display: block; }}
Question {{ align: left bottom; background: {GROUND} 0%; }}
#question {{ dock: bottom; background: {CHOSEN}; }}
"""
