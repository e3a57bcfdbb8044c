package strict_test

import (
	"strings"
	"testing"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// A file of a thousand aliases has one mistake, made a thousand times.
func TestTheSameWordsAreGivenOnce(t *testing.T) {
	var into struct {
		List []string `yaml:"list"`
		Name int      `yaml:"name"`
	}
	err := strict.Decode("bomb.yaml", []byte("name: x\nlist: ["+strings.Repeat("*a, ", 999)+"*a]\n"), &into)
	if err == nil {
		t.Fatal("no error")
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) > 2 || !strings.Contains(err.Error(), "(and at 999 places more)") {
		t.Errorf("%d lines:\n%.400s", len(lines), err)
	}
}
