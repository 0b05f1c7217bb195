package lazyregexp

import (
	"reflect"
	"regexp"
	"testing"
)

func TestABadPatternFailsUnderTest(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the pattern was taken")
		}
	}()
	New(`(`)
}

// Every method is called with arguments made from its signature, here and in package
// regexp, and answers the same.
func TestMethodsAnswerAsPackageRegexpDoes(t *testing.T) {
	const pattern = `(?P<first>\w)(\d*)`
	lazy, eager := reflect.ValueOf(New(pattern)), reflect.ValueOf(regexp.MustCompile(pattern))
	if lazy.NumMethod() == 0 {
		t.Fatal("no methods")
	}
	for i := range lazy.NumMethod() {
		name := lazy.Type().Method(i).Name
		want := eager.MethodByName(name)
		if !want.IsValid() {
			t.Errorf("package regexp has no %s", name)
			continue
		}
		args := make([]reflect.Value, want.Type().NumIn())
		for j := range args {
			args[j] = argument(t, want.Type().In(j))
		}
		got := lazy.Method(i).Call(args)[0].Interface()
		if want := want.Call(args)[0].Interface(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func argument(t *testing.T, kind reflect.Type) reflect.Value {
	switch kind {
	case reflect.TypeFor[string]():
		return reflect.ValueOf("first a1 b22")
	case reflect.TypeFor[[]byte]():
		return reflect.ValueOf([]byte("first a1 b22"))
	case reflect.TypeFor[int]():
		return reflect.ValueOf(-1)
	case reflect.TypeFor[func(string) string]():
		return reflect.ValueOf(func(s string) string { return s + "!" })
	case reflect.TypeFor[func([]byte) []byte]():
		return reflect.ValueOf(func(b []byte) []byte { return append(b, '!') })
	}
	t.Fatalf("no argument of type %s", kind)
	return reflect.Value{}
}
