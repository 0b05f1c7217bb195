package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// An attempt that was started over HTTP is of the token that started it: for another one
// there is none. Projects and tasks are for all.
func TestBoardAttemptsAreOfTheTokenThatStartedThem(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.flags = nil
	h := d.serveHTTP("--toolsets", "board", "--rate-limit", "0")
	ann, bob, eve := h.as(tokenOfAnn, "/mcp/x/board"), h.as(tokenOfBob, "/mcp"), h.as(tokenOfEve, "/mcp")
	task := d.task("for ann")
	raw := ann.must("start_task_attempt", args{"task_id": task, "executor": "SCRIPT", "prompt": "echo secret >made", "repos": []args{{"repo_id": d.repo, "target_branch": "main"}}})
	id, session := field(t, raw, "attempt_id"), field(t, raw, "session_id")
	eventually(t, "the turn is over", func() bool {
		return field(t, ann.must("get_attempt_status", args{"attempt_id": id}), "state") == "completed"
	})
	for tool, a := range map[string]args{
		"get_attempt_status": {}, "tail_attempt_logs": {}, "get_attempt_changes": {}, "tail_session_messages": {}, "get_attempt_file": {"path": "root/made"},
		"get_attempt_patch": {"paths": []string{"root/made"}}, "follow_up": {"action": "send", "prompt": "true"}, "stop_attempt": {},
	} {
		a["attempt_id"] = id
		for who, got := range map[string]answer{"bob": bob.call(tool, a), "eve, who may only read": eve.call(tool, a), "the local user": d.call(tool, a)} {
			said, _ := json.Marshal(got.Result)
			refused := got.Error != nil && who[0] == 'e' && (tool == "follow_up" || tool == "stop_attempt") // she lacks the scope
			if !refused && !strings.Contains(string(said), "attempt_not_found") || strings.Contains(string(said), "secret") {
				t.Errorf("%s, %s: %s %v", tool, who, said, got.Error)
			}
		}
		if tool != "follow_up" {
			ann.must(tool, a)
		}
	}
	for _, who := range []visit{bob, eve} {
		if a := who.call("tail_session_messages", args{"session_id": session}); !strings.Contains(string(a.Result), "session_not_found") {
			t.Errorf("%s %v", a.Result, a.Error)
		}
		who.must("get_task", args{"task_id": task})
	}
	mine := d.start(task, "true") // what was started locally is for tokens that may run something
	d.settled(mine.id)
	bob.must("get_attempt_status", args{"attempt_id": mine.id})
	if a := eve.call("get_attempt_status", args{"attempt_id": mine.id}); !strings.Contains(string(a.Result), "attempt_not_found") {
		t.Errorf("%s %v", a.Result, a.Error)
	}
}
