package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/rest"
	"github.com/gantry-run/gantry/runs"
)

// EventPage is a piece of a run's journal.
type EventPage struct {
	RunID  runs.ID      `json:"run_id"`
	Events []runs.Event `json:"events"`
	After  int64        `json:"next_after,omitempty" doc:"Where to read on; absent when there is no more now"`
}

const (
	defaultEvents = 100
	maxEvents     = 1000
)

func eventParams() []rest.Param {
	return []rest.Param{
		{Name: "after", In: "query", Type: "integer", Doc: "Only events after this sequence number"},
		{Name: "limit", In: "query", Type: "integer", Doc: "Page size, 1 to 1000; 100 if it is not given. Who follows gets all."},
		{Name: "Last-Event-ID", In: "header", Type: "string", Doc: "Only events after this one: what a client that follows sends when it comes back"},
	}
}

func (s service) events(r *rest.Request) error {
	v, err := s.view(r)
	if err != nil {
		return err
	}
	after, err := r.Int("after", 0, 0, 1<<62)
	if err != nil {
		return err
	}
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return s.follow(r, v, after)
	}
	limit, err := r.Int("limit", defaultEvents, 1, maxEvents)
	if err != nil {
		return err
	}
	page := EventPage{RunID: v.RunID, Events: []runs.Event{}}
	for e, err := range s.o.Store.Events(v.RunID, after) {
		if err != nil {
			return err
		}
		if len(page.Events) == int(limit) {
			page.After = page.Events[limit-1].Seq
			break
		}
		page.Events = append(page.Events, e)
	}
	return r.JSON(http.StatusOK, page)
}

// follow sends events as they come, and a comment when none has come for a while, so that
// nobody between thinks the connection dead.
func (s service) follow(r *rest.Request, v *runs.View, after int64) error {
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		seq, err := strconv.ParseInt(last, 10, 64)
		if err != nil || seq < 0 {
			return rest.Invalid(rest.FieldError{Field: "Last-Event-ID", Message: "must be the number of an event"})
		}
		after = seq
	}
	if v.State.Terminal() && after >= v.Seq {
		r.W.WriteHeader(http.StatusNoContent) // a browser's EventSource does not come back after this
		return nil
	}
	r.W.Header().Set("Content-Type", "text/event-stream")
	r.W.Header().Set("X-Accel-Buffering", "no")
	r.W.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(r.W)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	come, done := s.watch(ctx, v.RunID, after)
	defer func() { cancel(); <-done }()
	beat := time.NewTicker(s.o.Beat)
	defer beat.Stop()
	for {
		if flush.Flush() != nil {
			return nil
		}
		text := ": still here\n\n"
		select {
		case e, ok := <-come:
			if !ok {
				return nil // the run is over, or its journal ends
			}
			var err error
			if text, err = frame(e, r.Redact); err != nil {
				return nil
			}
		case <-beat.C:
		case <-r.End:
			return nil
		case <-ctx.Done():
			return nil
		}
		if _, err := fmt.Fprint(r.W, text); err != nil {
			return nil
		}
	}
}

// watch gives the events of a run until it is over or ctx ends. done is closed when
// nothing runs any more.
func (s service) watch(ctx context.Context, id runs.ID, after int64) (<-chan runs.Event, <-chan struct{}) {
	come, done := make(chan runs.Event), make(chan struct{})
	go func() {
		defer close(done)
		defer close(come)
		for e, err := range s.o.Store.Watch(ctx, id, after) {
			if err != nil {
				return
			}
			select {
			case come <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return come, done
}

// frame is an event as a server-sent one.
func frame(e runs.Event, redact func([]byte) []byte) (string, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Type, redact(raw)), nil
}
