package proc

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gantry-run/gantry/internal/fault"
)

// ShimCommand is the first argument that makes a program a shim.
const ShimCommand = "__shim"

const (
	requestFile = "spec.json" // what the shim was asked to start, without the environment
	shimLog     = "shim.log"  // what the shim had to complain about
)

// request is what a shim reads from its standard input.
type request struct {
	Key   string   `json:"key"`
	Spec  ProcSpec `json:"spec"`
	Env   []string `json:"env,omitempty"`   // of the spec
	Owner string   `json:"owner,omitempty"` // lock of the supervisor that the process depends on
	Token string   `json:"token"`
	Home  string   `json:"home,omitempty"`  // hidden from a sandbox
	State string   `json:"state,omitempty"` // hidden from a sandbox
	Adopt bool     `json:"adopt,omitempty"` // the process runs already; nothing else is set
}

// IsShim reports whether this program was started as a shim. Such a program calls
// [Shim] before it does anything else: every process has a shim of its own, which
// should be small.
func IsShim(args []string) bool { return len(args) == 3 && args[1] == ShimCommand }

// Shim is the whole life of a shim: it starts one process, or adopts one, keeps its
// output, stops it when it is asked to and records its end. It returns an exit code.
//
// Standard input holds the request, standard output is closed when a status has
// been written, and descriptor 3 is the open lock file, locked.
func Shim(args []string) int {
	closeInherited()
	s := &shim{dir: args[2]}
	if err := s.live(); err != nil {
		fmt.Fprintln(os.Stderr, time.Now().UTC().Format(time.RFC3339), err)
		return 1
	}
	return 0
}

// closeInherited closes what somebody let leak into this program, such as a pipe whose
// end its reader waits for, and keeps the process from inheriting the lock. All that
// the program itself opens is closed on exec, and is known by that.
func closeInherited() {
	unix.CloseOnExec(lockDescriptor)
	entries, _ := os.ReadDir("/dev/fd")
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= lockDescriptor {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// lockDescriptor is where a shim inherits its lock.
const lockDescriptor = 3

// shim supervises one process.
type shim struct {
	dir string
	req request
	rec record

	child  chan os.Signal // a child changed state
	system chan os.Signal // somebody asks the shim to end
	owner  <-chan struct{}
	asked  chan time.Duration
	breaks chan struct{} // an interrupt was asked for
	gone   chan struct{} // an adopted process ended
	sinks  []*sink

	exited  bool      // the process itself is over
	killAt  time.Time // when the grace ends; zero until somebody asks
	retried int       // kills so far
}

// live supervises from the request to the final status.
func (s *shim) live() error {
	b, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &s.req); err != nil {
		return err // whoever asked died on the way; nothing was started
	}
	s.listen()
	if err := becomeSubreaper(); err != nil {
		return err
	}
	if s.req.Adopt {
		err = s.takeOver()
	} else {
		err = s.begin()
	}
	if err != nil || s.rec.State.Ended() {
		return err
	}
	if err := detachStreams(); err != nil {
		fmt.Fprintln(os.Stderr, err) // not worth the process's life
	}
	s.supervise()
	s.finish()
	return s.rec.write(s.dir)
}

// listen catches the signals that would end the shim. They are caught and not
// ignored, since a program inherits what is ignored.
func (s *shim) listen() {
	s.child, s.system = make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(s.child, unix.SIGCHLD)
	signal.Notify(s.system, unix.SIGTERM)
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGPIPE, unix.SIGTSTP, unix.SIGTTOU, unix.SIGTTIN)
}

// begin starts the process. Nothing runs before the status says so: a shim that is
// killed at any moment leaves either no trace, and the process never ran, or one by
// which it can be found.
func (s *shim) begin() error {
	s.req.Spec.Env = s.req.Env
	spec := s.req.Spec
	if err := s.watch(s.req.Owner); err != nil {
		return err
	}
	stored := s.req
	stored.Env = nil
	if err := writeFile(s.dir, requestFile, stored); err != nil {
		return err
	}
	s.rec = record{
		Status: Status{
			Key: s.req.Key, State: Starting, Command: append([]string{spec.Name}, spec.Args...), Dir: spec.Dir, Keep: spec.Keep,
			Exit: -1, Started: time.Now().UTC(), Output: spec.Output,
		},
		Shim: identify(os.Getpid()), Sessions: []int{os.Getpid()}, Token: s.req.Token, Owner: s.req.Owner,
		ErrorsApart: spec.ErrorsApart, Cgroup: cgroupPath(s.req.Token), Grace: int64(spec.Grace), Timeout: int64(spec.Timeout), Nice: spec.Nice,
	}
	theirs, err := s.openOutput()
	if err != nil {
		return err
	}
	defer func() { theirs.close() }()
	if err := s.rec.write(s.dir); err != nil {
		return err
	}
	if spec.Stdin != "" {
		if theirs.in, err = os.Open(spec.Stdin); err != nil {
			return s.fail(fault.New(fault.ProcessFailed, "the input of the program cannot be read: %s", rootCause(err)))
		}
	}
	pid, err := s.start(theirs)
	if err != nil {
		return s.fail(err)
	}
	s.rec.State, s.rec.PID, s.rec.Process = Running, pid, identify(pid)
	if err := s.rec.write(s.dir); err != nil {
		fmt.Fprintln(os.Stderr, err) // it runs, and is found by its session
	}
	theirs.close()
	s.drainOutput()
	return nil
}

// fail records that the process could not be started.
func (s *shim) fail(err error) error {
	f := new(fault.Fault)
	if f = fault.From(err); f.Code == fault.Internal {
		f = fault.New(fault.ProcessFailed, "the program cannot be started: %s", rootCause(err))
	}
	s.rec.State, s.rec.Code, s.rec.Reason, s.rec.Ended = Failed, string(f.Code), f.Message, time.Now().UTC()
	removeCgroup(s.rec.Cgroup)
	s.removePipes()
	return s.rec.write(s.dir)
}

// takeOver goes on where a killed shim left off.
func (s *shim) takeOver() (err error) {
	if s.rec, err = readRecord(s.dir); err != nil {
		return err
	}
	if s.rec.judge(); s.rec.State != Orphan {
		return s.rec.write(s.dir)
	}
	s.rec.Shim = identify(os.Getpid())
	s.rec.PID = s.rec.Process.PID
	if err := s.watch(s.rec.Owner); err != nil {
		return err
	}
	theirs, err := s.openOutput()
	if err != nil {
		return err
	}
	theirs.close()
	if err := s.rec.write(s.dir); err != nil {
		return err
	}
	s.gone = make(chan struct{})
	go s.awaitOrphan()
	s.drainOutput()
	return nil
}

// watch opens what can ask for a stop: the owner's end and the control pipe.
func (s *shim) watch(owner string) error {
	if owner != "" {
		s.owner = ownerGone(owner)
	}
	path := filepath.Join(s.dir, controlFile)
	if err := unix.Mkfifo(path, 0o600); err != nil && err != unix.EEXIST {
		return err
	}
	control, err := os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	s.asked, s.breaks = make(chan time.Duration), make(chan struct{})
	go s.readControl(control)
	return nil
}

// detachStreams closes the reply, which tells that the status is written, and lets
// go of the other side's pipes.
func detachStreams() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	for _, fd := range []int{0, 1} {
		if err := dup(int(null.Fd()), fd); err != nil {
			return err
		}
	}
	return nil
}
