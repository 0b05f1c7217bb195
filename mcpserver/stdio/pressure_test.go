package stdio

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestClientThatDoesNotReadGetsTheNewestProgress(t *testing.T) {
	serve(t, nil, func(s *session) {
		s.handshake()
		s.out.pause()
		s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":"p"}}}`)
		s.out.resume()
		synctest.Wait()
		got := s.out.take()
		if len(got) > 3 { // the one that was being written, the newest, the answer
			t.Errorf("%d lines for 1000 notifications and an answer, want at most 3", len(got))
		}
		if newest := got[len(got)-2]; !strings.Contains(newest, `"progress":999`) {
			t.Errorf("before the answer came %s, want the newest progress", newest)
		}
		if last := got[len(got)-1]; last != result("1", "done") {
			t.Errorf("last came %s, want the answer", last)
		}
	})
}

func TestClientThatDoesNotReadCannotFillTheMemory(t *testing.T) {
	serve(t, nil, func(s *session) {
		s.handshake()
		s.out.pause()
		s.send(callTool("1", "chatter", ""))
		s.out.resume()
		synctest.Wait()
		got := s.out.take()
		// One line more was taken if the writer had its turn in time.
		rejected := 1000 - maxNotices
		if last := got[len(got)-1]; last != result("1", fmt.Sprint(rejected)) && last != result("1", fmt.Sprint(rejected-1)) {
			t.Errorf("the tool's answer is %s, want %d notifications rejected", last, rejected)
		}
		s.send(ping)
		s.want(pong)
	})
}

func TestClientThatDoesNotReadStartsNoMoreCalls(t *testing.T) {
	const limit = 4
	serve(t, func(tr *Transport) { tr.MaxInFlight = limit }, func(s *session) {
		s.handshake()
		s.out.pause()
		go func() {
			for i := range 100 {
				fmt.Fprintln(s.in, callTool(fmt.Sprint(i), "echo", "x"))
			}
		}()
		synctest.Wait()
		if got := len(s.header); got != limit {
			t.Errorf("%d calls were executed for a client that reads no answer, want %d", got, limit)
		}
		s.out.resume()
		synctest.Wait()
		if got := len(s.out.take()); got != 100 {
			t.Errorf("%d answers, want 100", got)
		}
	})
}

func TestMalformedLinesStopBeingReadWhileNobodyReadsTheAnswers(t *testing.T) {
	serve(t, nil, func(s *session) {
		s.handshake()
		s.out.pause()
		sent := 0
		go func() {
			for range 10 * maxRefusals {
				fmt.Fprintln(s.in, "x")
				sent++
			}
		}()
		synctest.Wait()
		if sent > maxRefusals+3 {
			t.Errorf("%d lines were read, want about %d", sent, maxRefusals)
		}
		s.out.resume()
		synctest.Wait()
		if got := len(s.out.take()); got != 10*maxRefusals {
			t.Errorf("%d answers, want %d", got, 10*maxRefusals)
		}
	})
}

func TestClientAnswersOvertakeTheCallsThatWait(t *testing.T) {
	serve(t, func(tr *Transport) { tr.MaxInFlight = 2 }, func(s *session) {
		s.handshake()
		s.send(callTool("1", "hold", "a"), callTool("2", "ask", ""), callTool("3", "echo", "x"))
		s.want(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		s.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		s.want(result("2", "asked"), result("3", "x"))
	})
}

func TestOutputClosedByTheClientEndsCleanly(t *testing.T) {
	serve(t, nil, func(s *session) {
		s.handshake()
		s.send(callTool("1", "hold", "a"))
		s.out.breakWith(fmt.Errorf("write: %w", syscall.EPIPE))
		s.send(ping)
		if err := s.tr.Wait(s.t.Context()); err != nil {
			t.Errorf("Wait: %v, want nil", err)
		}
		if err := s.server.Wait(); err != nil {
			t.Errorf("the SDK's session: %v, want nil", err)
		}
		if s.held["a"] == nil {
			t.Error("the running call was not cancelled")
		}
	})
}

func TestOutputThatFailsIsReported(t *testing.T) {
	serve(t, nil, func(s *session) {
		broken := errors.New("disk on fire")
		s.out.breakWith(broken)
		s.send(ping)
		if err := s.tr.Wait(s.t.Context()); !errors.Is(err, broken) {
			t.Errorf("Wait: %v, want %v", err, broken)
		}
	})
}

func TestClientThatNeverReadsDoesNotHoldUpTheEnd(t *testing.T) {
	serve(t, nil, func(s *session) {
		s.handshake()
		s.out.pause()
		s.send(callTool("1", "hold", "a"), ping)
		start := time.Now()
		s.tr.BeginDrain()
		if err := s.tr.Wait(s.t.Context()); !errors.Is(err, ErrUnread) {
			t.Errorf("Wait: %v, want %v", err, ErrUnread)
		}
		if took := time.Since(start); took != DefaultDrainGrace+DefaultFlushGrace {
			t.Errorf("the end took %v, want %v", took, DefaultDrainGrace+DefaultFlushGrace)
		}
	})
}

func TestInputThatFailsIsReportedAfterTheAnswers(t *testing.T) {
	serve(t, nil, func(s *session) {
		s.handshake()
		broken := errors.New("wire cut")
		s.send(callTool("1", "hold", "a"))
		s.in.CloseWithError(broken)
		s.release("a")
		s.want(result("1", "a"))
		if err := s.tr.Wait(s.t.Context()); !errors.Is(err, broken) {
			t.Errorf("Wait: %v, want %v", err, broken)
		}
	})
}

func TestCloseAnswersWhatIsOpen(t *testing.T) {
	serve(t, nil, func(s *session) {
		s.handshake()
		s.send(callTool("1", "hold", "a"))
		if err := s.tr.connection().Close(); err != nil {
			t.Fatal(err)
		}
		s.want(shutDown("1"))
	})
}

func TestLastLineNeedsNoNewline(t *testing.T) {
	serve(t, nil, func(s *session) {
		s.raw(ping)
		s.want()
		s.in.Close()
		s.want(pong)
	})
}

func TestMiddlewareSeesTheRequestIDAndTheTransport(t *testing.T) {
	serve(t, nil, func(s *session) {
		s.handshake()
		s.send(callTool("1", "echo", ""), callTool(`"1"`, "echo", ""), callTool("9007199254740993", "echo", ""))
		want := []string{"1 stdio", `"1" stdio`, "9007199254740993 stdio"}
		if !slices.Equal(s.header, want) {
			t.Errorf("the tool saw %q, want %q", s.header, want)
		}
	})
}

func TestRefuseMakesTheErrorOfTheShutdown(t *testing.T) {
	refuse := func(method string) *jsonrpc.Error {
		return &jsonrpc.Error{Code: -32012, Message: "going: " + method}
	}
	serve(t, func(tr *Transport) { tr.Refuse = refuse }, func(s *session) {
		s.handshake()
		s.send(callTool("1", "hold", "a"))
		s.tr.BeginDrain()
		s.send(ping)
		s.want(refused(`"alive"`, -32012, "going: ping"))
		time.Sleep(DefaultDrainGrace)
		s.want(refused("1", -32012, "going: tools/call"))
	})
}

func TestTransportConnectsOnce(t *testing.T) {
	serve(t, nil, func(s *session) {
		if _, err := s.tr.Connect(s.t.Context()); err == nil {
			t.Error("a second Connect succeeded")
		}
	})
}

func TestDrainBeforeConnectIsTheEnd(t *testing.T) {
	tr := &Transport{In: strings.NewReader(""), Out: &strings.Builder{}}
	tr.BeginDrain()
	if err := tr.Wait(t.Context()); err != nil {
		t.Errorf("Wait: %v", err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tr := &Transport{In: strings.NewReader(""), Out: &strings.Builder{}}
	if err := tr.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v, want %v", err, context.Canceled)
	}
}
