package runs_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/journal"
	"github.com/gantry-run/gantry/runs"
)

// The test binary plays other processes when its first argument is this. The second
// says which, the rest are its arguments.
const otherProcess = "other-process"

var others = map[string]func(args []string) error{
	"die-publishing": diePublishing,
	"open":           openAndUse,
	"hold":           holdCallLock,
	"advance":        advanceSlowly,
}

func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != otherProcess {
		code := m.Run()
		os.RemoveAll(tenThousand.dir)
		os.Exit(code)
	}
	if err := others[os.Args[2]](os.Args[3:]); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

// child is another process, which answers in lines and ends with its input.
type child struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func other(t testing.TB, args ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0], append([]string{otherProcess}, args...)...)}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.out = in, bufio.NewReader(out)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c
}

func (c *child) line(t testing.TB) string {
	t.Helper()
	s, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(s)
}

// dyingDisk is a disk whose process is killed just before a folder is published.
type dyingDisk struct{ journal.Disk }

func (dyingDisk) RenameNew(string, string) error {
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func diePublishing(args []string) error {
	s, err := runs.OpenStore(args[0], runs.StoreOptions{Disk: dyingDisk{}})
	if err != nil {
		return err
	}
	r := request("")
	r.Once = &runs.Once{Key: "key", Hash: "1"}
	_, _, err = s.Create(context.Background(), r)
	return errors.Join(err, errors.New("not killed"))
}

func openAndUse(args []string) error {
	s, err := runs.OpenStore(args[0], runs.StoreOptions{})
	if err != nil {
		return err
	}
	id, _, err := s.Create(context.Background(), request(""))
	if err != nil {
		return err
	}
	page, err := s.List(context.Background(), runs.Filter{Limit: 100})
	if err != nil {
		return err
	}
	for _, r := range page.Runs {
		if r.ID == id {
			return s.Close()
		}
	}
	return errors.New("the run is not in the list")
}

func holdCallLock(args []string) error {
	s, err := runs.OpenStore(args[0], runs.StoreOptions{})
	if err != nil {
		return err
	}
	release, err := s.LockCall(context.Background(), runs.ID(args[1]), 10*time.Second)
	if err != nil {
		return err
	}
	os.Stdout.WriteString("held\n")
	io.Copy(io.Discard, os.Stdin)
	release()
	return nil
}

// advanceSlowly drives a run one event for each line of its input.
func advanceSlowly(args []string) error {
	s, err := runs.OpenStore(args[0], runs.StoreOptions{})
	if err != nil {
		return err
	}
	d, ok, err := s.Drive(context.Background(), runs.ID(args[1]))
	if err != nil || !ok {
		return errors.Join(err, errors.New("not driven"))
	}
	os.Stdout.WriteString("driving\n")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if err := advance(d); err != nil {
			return err
		}
	}
	return d.Close(context.Background())
}

// advance does one step of a run, with workers to which everything succeeds.
func advance(d *runs.Drive) error {
	next := runs.Next(d.View())
	if len(next.Write) > 0 {
		return d.Append(next.Write...)
	}
	for _, w := range next.Execute {
		outcome := ""
		if w.Node.Name == "validate" {
			outcome = "ok"
		}
		if err := d.Append(runs.Draft{Type: runs.WorkItemStarted, Payload: runs.ItemStarted{WorkItemID: w.Key, Attempt: w.Tries + 1}}, finished(w, outcome)); err != nil {
			return err
		}
	}
	return nil
}
