package proc

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// spooled returns a view of a row that holds b, written in random pieces.
func spooled(t *testing.T, b []byte, keep int64) *view {
	t.Helper()
	dir := t.TempDir()
	w, err := openSpool(dir, keep)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for rest := b; len(rest) > 0; {
		n := min(len(rest), 1+random.IntN(3000))
		w.Write(rest[:n])
		rest = rest[n:]
		if random.IntN(50) == 0 { // a shim died, another goes on
			w.Close()
			if w, err = openSpool(dir, keep); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Close()
	v := &view{dir: dir, rec: record{Status: Status{State: Exited}}}
	if err := v.refresh(); err != nil {
		t.Fatal(err)
	}
	return v
}

func lines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		b.WriteString(strings.Repeat("x", i%100) + "\n")
	}
	return b.Bytes()
}

func TestTheLastBytesAreKeptAtStableOffsets(t *testing.T) {
	const keep = 40000
	all := lines(20000)
	v := spooled(t, all, keep)
	if v.total != int64(len(all)) {
		t.Fatalf("total %d of %d", v.total, len(all))
	}
	kept := v.total - v.row[0].base
	if kept < keep || kept > keep*5/4 {
		t.Errorf("%d bytes kept", kept)
	}
	var got []byte
	for at := int64(0); ; {
		out, err := v.read(at, 700)
		if err != nil {
			t.Fatal(err)
		}
		if at == 0 && (out.Dropped != v.row[0].base || out.Offset != out.Dropped) {
			t.Errorf("the gap is not marked: %+v", out)
		}
		if len(out.Data) == 0 {
			break
		}
		if len(out.Data) > 700 || out.Next != out.Offset+int64(len(out.Data)) || !bytes.Equal(out.Data, all[out.Offset:out.Next]) {
			t.Fatalf("at %d: %d bytes, next %d", at, len(out.Data), out.Next)
		}
		got, at = append(got, out.Data...), out.Next
	}
	if int64(len(got)) != kept {
		t.Errorf("%d of %d bytes read", len(got), kept)
	}
	for _, at := range []int64{-5, v.total, v.total + 1000} {
		if out, err := v.read(at, 300); err != nil || out.Next > v.total || at > 0 && len(out.Data) > 0 {
			t.Errorf("at %d: %+v, %v", at, out, err)
		}
	}
}

func TestTheTailIsTheLastLines(t *testing.T) {
	all := lines(20000)
	v := spooled(t, all, 40000)
	for _, n := range []int{1, 2, 100, 500} {
		out, err := v.tail(n, 1<<20)
		if err != nil || bytes.Count(out.Data, newline) != n || !bytes.HasSuffix(all, out.Data) || out.Next != v.total {
			t.Errorf("%d lines: %d bytes, %v", n, len(out.Data), err)
		}
		if want := int64(20000 - n); out.Lines != want {
			t.Errorf("%d lines come before, want %d", out.Lines, want)
		}
	}
	if out, err := v.tail(1000000, 1<<20); err != nil || out.Offset != v.row[0].base || out.Dropped != v.row[0].base {
		t.Errorf("all that is kept: offset %d, %v", out.Offset, err)
	}
	if out, err := v.tail(1000, 1000); err != nil || len(out.Data) != 1000 || !bytes.HasSuffix(all, out.Data) {
		t.Errorf("bounded: %d, %v", len(out.Data), err)
	}
}

func TestALineWithoutEndIsBounded(t *testing.T) {
	v := spooled(t, bytes.Repeat([]byte("é"), 100000), 40000)
	out, err := v.tail(10, 1001)
	if err != nil || len(out.Data) != 1000 || !utf8.Valid(out.Data) || out.Lines != 0 {
		t.Errorf("%d bytes, %v", len(out.Data), err)
	}
}

func TestAPieceEndsWithAWholeCharacter(t *testing.T) {
	want := []byte(strings.Repeat("aé世😀\x1b[31mred\x1b[0m", 500))
	v := spooled(t, want, 1<<20)
	var got []byte
	var text strings.Builder
	for at := int64(0); at < v.total; {
		out, err := v.read(at, 257)
		if err != nil || len(out.Data) == 0 || !utf8.Valid(out.Data) {
			t.Fatalf("at %d: %q, %v", at, out.Data, err)
		}
		got, at = append(got, out.Data...), out.Next
		text.WriteString(Text(out.Data))
	}
	if !bytes.Equal(got, want) || text.String() != strings.Repeat("aé世😀red", 500) {
		t.Error("the pieces are not the whole")
	}
	half := spooled(t, []byte("ab\xf0\x9f"), 1000)
	half.rec.State = Running
	if out, err := half.read(0, 256); err != nil || string(out.Data) != "ab" || out.Next != 2 {
		t.Errorf("it may go on: %q, %v", out.Data, err)
	}
	half.rec.State = Exited
	if out, err := half.read(0, 256); err != nil || string(out.Data) != "ab\xf0\x9f" {
		t.Errorf("it has ended: %q, %v", out.Data, err)
	}
}

func TestWhatCouldNotBeWrittenIsAGap(t *testing.T) {
	dir := t.TempDir()
	w, err := openSpool(dir, 1000)
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("one\n"))
	w.file.Close() // the next write fails, as on a full disk
	w.Write([]byte("lost\n"))
	w.Write([]byte("two\n"))
	w.Close()
	v := &view{dir: dir, rec: record{Status: Status{State: Exited}}}
	if err := v.refresh(); err != nil {
		t.Fatal(err)
	}
	first, err := v.read(0, 300)
	if err != nil || string(first.Data) != "one\n" {
		t.Errorf("%+v, %v", first, err)
	}
	second, err := v.read(first.Next, 300)
	if err != nil || string(second.Data) != "two\n" || second.Dropped != 5 {
		t.Errorf("%+v, %v", second, err)
	}
	if out, err := v.tail(10, 300); err != nil || string(out.Data) != "two\n" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestOutputIsReadWhileItIsWrittenOver(t *testing.T) {
	dir := t.TempDir()
	w, err := openSpool(dir, 4000)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 30000 {
			w.Write([]byte("0123456789abcde\n"))
		}
		w.Close()
	}()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		v := &view{dir: dir, rec: record{Status: Status{State: Exited}}}
		if err := v.refresh(); err != nil {
			t.Fatal(err)
		}
		for _, read := range []func() (Output, error){
			func() (Output, error) { return v.tail(5, 500) }, func() (Output, error) { return v.read(v.total-1600, 800) },
		} {
			out, err := read()
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range out.Data {
				if c != "0123456789abcde\n"[(out.Offset+int64(i))%16] {
					t.Fatalf("at %d: %q", out.Offset, out.Data)
				}
			}
		}
	}
}

func TestExtentCountsWhatIsGone(t *testing.T) {
	s := supervisor(t)
	spec := script("seq 1 20000; printf last")
	spec.Output = Limits{Bytes: 10000, Lines: 7}
	ensure(t, s, "k", spec)
	ended(t, s, "k")
	e, err := s.Extent("k")
	if err != nil || e.Total != 108898 || e.Lines != 20001 || e.DroppedBytes < 90000 || e.DroppedLines < 18000 {
		t.Errorf("%+v, %v", e, err)
	}
	out, err := s.Tail("k", 0, 0)
	if err != nil || string(out.Data) != "19995\n19996\n19997\n19998\n19999\n20000\nlast" || out.Lines != 19994 {
		t.Errorf("%q, %d, %v", out.Data, out.Lines, err)
	}
	for _, read := range []func() error{
		func() error { _, err := s.Tail("none", 1, 1); return err }, func() error { _, err := s.ReadFrom("none", 0, 1); return err },
		func() error { _, err := s.Extent("none"); return err },
	} {
		if err := read(); !errors.Is(err, ErrNoProcess) {
			t.Error(err)
		}
	}
	ensure(t, s, "silent", script("true"))
	ended(t, s, "silent")
	if out, err := s.Tail("silent", 0, 0); err != nil || len(out.Data) != 0 || out.Total != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestTheEnvironmentIsNotWrittenToDisk(t *testing.T) {
	s := supervisor(t)
	spec := script("true")
	spec.Env = append(spec.Env, "API_KEY=sekret-value")
	ensure(t, s, "k", spec)
	ended(t, s, "k")
	shimsGone(t, s.dir)
	filepath.WalkDir(s.dir, func(path string, e os.DirEntry, _ error) error {
		if !e.IsDir() && !e.Type().IsRegular() {
			t.Errorf("%s is left", path)
		} else if b, _ := os.ReadFile(path); bytes.Contains(b, []byte("sekret")) {
			t.Error(path)
		}
		return nil
	})
}

func TestTextIsSafeToShow(t *testing.T) {
	for raw, want := range map[string]string{
		"plain\n":                                  "plain\n",
		"\x1b[1;31mred\x1b[0m \x1b]0;title\x07x":   "red x",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"10%\r50%\r100%\nnext\r\n":                 "100%\nnext\n",
		"a\x00b\x08c\x7fd\u0085e\tf":               "abcde\tf",
		"bad \xff\xfe é\xc3":                       "bad \ufffd\ufffd é\ufffd",
		"\x1b(B\x1b7\x1b=ok\x1b":                   "ok",
		"\x1b[31":                                  "",
		"\x1b]never ended\nnext":                   "\nnext",
		"\x1b[3é":                                  "é",
	} {
		if got := Text([]byte(raw)); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}

func FuzzTextIsValidWithoutControls(f *testing.F) {
	f.Add([]byte("a\x1b[31m\xff\r\n"), 3)
	f.Fuzz(func(t *testing.T, raw []byte, at int) {
		text := Text(raw)
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\x00\r\x07") || len(text) > 3*len(raw) {
			t.Errorf("%q: %q", raw, text)
		}
		if n := complete(raw); n < 0 || n > len(raw) || len(raw)-n > longEscape {
			t.Errorf("%q: %d", raw, n)
		}
	})
}
