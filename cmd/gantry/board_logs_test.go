package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The scenarios of the seed about the log of an attempt.

type logPage struct {
	Attempt string `json:"attempt_id"`
	Process string `json:"execution_process_id"`
	Channel string `json:"channel"`
	Entries []struct {
		Index int64 `json:"entry_index"`
		Entry struct {
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
		} `json:"entry"`
	} `json:"entries"`
	Next      *int64 `json:"next_cursor"`
	More      bool   `json:"has_more"`
	After     *int64 `json:"next_after"`
	Truncated bool   `json:"history_truncated"`
}

func (d *desk) log(attempt string, more args) (out logPage) {
	d.world.t.Helper()
	a := args{"attempt_id": attempt, "channel": "raw"}
	for k, v := range more {
		a[k] = v
	}
	d.fetch("tail_attempt_logs", a, &out)
	return out
}

// texts are the entries of a raw page.
func (p logPage) texts(t *testing.T) (out []string) {
	t.Helper()
	for _, e := range p.Entries {
		var text string
		if err := json.Unmarshal(e.Entry.Content, &text); err != nil || e.Entry.Type != "STDOUT" {
			t.Fatalf("%v: %s %s", err, e.Entry.Type, e.Entry.Content)
		}
		out = append(out, strings.TrimSpace(text))
	}
	return out
}

const fiveHundredLines = `i=0; while [ $i -lt 500 ]; do i=$((i+1)); echo "line $i"; done`

// lines are the texts that fiveHundredLines writes, from one to another.
func lines(from, to int) (out []string) {
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprintf("line %d", i))
	}
	return out
}

func TestBoardLogsTailTheNewestEntries(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(fiveHundredLines)
	p := d.log(a.id, nil)
	if got := p.texts(t); !slices.Equal(got, lines(301, 500)) || p.Attempt != a.id || p.Process != a.turn || p.Channel != "raw" {
		t.Errorf("%d entries %q … of %+v", len(got), got[:1], p.Process)
	}
	if !p.More || p.Next == nil || *p.Next != p.Entries[0].Index || p.Truncated {
		t.Errorf("has_more %v, next_cursor %v", p.More, p.Next)
	}
	if p := d.log(a.id, args{"limit": 1_000_000}); len(p.Entries) > 1000 || len(p.Entries) < 500 {
		t.Errorf("%d entries for a limit beyond the cap", len(p.Entries))
	}
	var normal logPage
	d.fetch("tail_attempt_logs", args{"attempt_id": a.id}, &normal)
	if normal.Channel != "normalized" || len(normal.Entries) == 0 || len(normal.Entries) > 20 {
		t.Errorf("%s: %d entries", normal.Channel, len(normal.Entries))
	}
	for i, e := range normal.Entries {
		if e.Entry.Type != "NORMALIZED_ENTRY" || !strings.Contains(string(e.Entry.Content), "entry_type") || i > 0 && e.Index != normal.Entries[i-1].Index+1 {
			t.Errorf("%d: %s %s", e.Index, e.Entry.Type, e.Entry.Content)
		}
	}
}

func TestBoardLogsPageToOlderEntries(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(fiveHundredLines)
	var all []string
	pages := 0
	for more := (args{"limit": 120}); ; pages++ {
		p := d.log(a.id, more)
		all = append(p.texts(t), all...)
		if p.More != (p.Next != nil) {
			t.Fatalf("has_more %v, next_cursor %v", p.More, p.Next)
		}
		if p.Next == nil {
			break
		}
		more["cursor"] = *p.Next
	}
	if !slices.Equal(all, lines(1, 500)) || pages != 4 {
		t.Errorf("%d entries on %d pages", len(all), pages+1)
	}
}

func TestBoardLogsReadOnAfterAnIndex(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(fiveHundredLines)
	var all []string
	more := args{"limit": 150, "after_entry_index": d.log(a.id, args{"limit": 500}).Entries[0].Index}
	for range 10 {
		p := d.log(a.id, more)
		all = append(all, p.texts(t)...)
		if more["after_entry_index"] = *p.After; !p.More {
			break
		}
	}
	if !slices.Equal(all, lines(2, 500)) {
		t.Errorf("%d entries", len(all))
	}
	if p := d.log(a.id, more); len(p.Entries) != 0 || p.More || *p.After != more["after_entry_index"] {
		t.Errorf("after the newest: %+v", p)
	}
}

func TestBoardLogsRejectMixedPagination(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt("true")
	f := d.fails("tail_attempt_logs", args{"attempt_id": a.id, "cursor": 5, "after_entry_index": 1}, "mixed_pagination")
	if !strings.Contains(f.Hint, "only one") || !strings.Contains(f.Hint, "after_entry_index") || f.Retryable {
		t.Errorf("%+v", f)
	}
}

func TestBoardLogsOfATurnUnderWayGrow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.start(d.task("slow"), "echo one; "+d.wait("gate")+"echo two")
	d.logged(a.id, "at the gate")
	after := *d.log(a.id, nil).After
	d.open("gate")
	eventually(t, "the new entry is read", func() bool {
		return slices.Equal(d.log(a.id, args{"after_entry_index": after}).texts(t), []string{"two"})
	})
	d.settled(a.id)
}
