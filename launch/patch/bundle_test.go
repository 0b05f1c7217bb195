package patch

import (
	"os"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

func TestABundleNeedsSomethingToBundle(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := Bundle(BundleInput{Root: root, BaseRef: "b"}); !fault.Is(err, fault.LinkerNoDrafts) {
		t.Errorf("err = %v", err)
	}
}
