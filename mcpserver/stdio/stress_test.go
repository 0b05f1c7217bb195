package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Over real pipes and real time: a client that sends as fast as it can, cancels
// some calls, repeats ids while they may still be open, sends rubbish between
// them and closes its end at once. Every accepted call is answered once or was
// cancelled.
func TestEveryCallOfABusyClientIsAnsweredOnce(t *testing.T) {
	const calls = 3000
	in, toServer := pipe(t)
	fromServer, out := pipe(t)
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "work", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for range 10 {
				runtime.Gosched()
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "t", Progress: 1})
			}
			return &mcp.CallToolResult{}, ctx.Err()
		})
	tr := &Transport{In: in, Out: out, MaxInFlight: 8}
	session, err := server.Connect(context.Background(), tr, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		w := bufio.NewWriter(toServer)
		fmt.Fprintln(w, initialize)
		for i := range calls {
			fmt.Fprintln(w, callTool(fmt.Sprint(i), "work", "x"))
			switch i % 5 {
			case 1:
				fmt.Fprintln(w, cancelled(fmt.Sprint(i)))
			case 2:
				fmt.Fprintln(w, callTool(fmt.Sprint(i), "work", "again"))
			case 3:
				fmt.Fprintln(w, "rubbish")
			}
		}
		w.Flush()
		toServer.Close()
	}()
	answers, nulls := readAnswers(t, fromServer, tr, out)
	if err := tr.Wait(t.Context()); err != nil {
		t.Errorf("Wait: %v", err)
	}
	if err := session.Wait(); err != nil {
		t.Errorf("the SDK's session: %v", err)
	}
	twice := 0 // a repeated id is refused with the id null, or answered twice if it was free again
	for i := range calls {
		got := answers[fmt.Sprint(i)]
		switch {
		case i%5 == 1 && got > 1, i%5 == 2 && (got < 1 || got > 2), i%5 != 1 && i%5 != 2 && got != 1:
			t.Fatalf("call %d has %d answers", i, got)
		case i%5 == 2 && got == 2:
			twice++
		}
	}
	if want := calls/5 + calls/5 - twice; nulls != want {
		t.Errorf("%d refusals with the id null, want %d", nulls, want)
	}
}

// readAnswers counts the answers by id until the transport is done.
func readAnswers(t *testing.T, from io.Reader, tr *Transport, out io.Closer) (answers map[string]int, nulls int) {
	t.Helper()
	go func() {
		<-tr.Done()
		out.Close()
	}()
	answers = map[string]int{}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatalf("the server wrote %q", lines.Bytes())
		}
		switch {
		case m.Method != "":
		case string(m.ID) == "null":
			nulls++
		default:
			answers[string(m.ID)]++
		}
	}
	return answers, nulls
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}
