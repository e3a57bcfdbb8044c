package driver

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestFuncGetsTheAddress(t *testing.T) {
	var got string
	gaveUp := errors.New("gave up")
	err := Func("mine", func(_ context.Context, url string) error { got = url; return gaveUp }).Run(t.Context(), target)
	if got != target.URL || !errors.Is(err, gaveUp) {
		t.Errorf("url %q, error %v", got, err)
	}
}

func TestFuncSurvivesItsFaults(t *testing.T) {
	for _, c := range []struct {
		name, want string
		f          func()
	}{
		{"panic", "mine panicked: out of luck", func() { panic("out of luck") }},
		{"nil pointer", "mine panicked: runtime error: invalid memory address", func() { var p *int; *p = 1 }},
		{"exit", "mine ended its goroutine in place of returning; does it call FailNow or Goexit?", runtime.Goexit},
	} {
		t.Run(c.name, func(t *testing.T) {
			exit, out := runClient(t.Context(), Func("mine", func(context.Context, string) error { c.f(); return nil }), target)
			if exit.Err == nil || !strings.HasPrefix(exit.Err.Error(), c.want) || exit.Alive {
				t.Errorf("got %v, want %s", exit.Err, c.want)
			}
			if strings.Contains(c.want, "panicked") && !strings.Contains(out.Stderr, "func_test.go") {
				t.Errorf("the output does not say where: %s", out)
			}
		})
	}
}

func TestDeafFuncIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		exit, _ := runClient(ctx, Func("deaf", func(context.Context, string) error { time.Sleep(time.Hour); return nil }), target)
		if took := time.Since(began); !exit.Alive || took != time.Minute+grace {
			t.Errorf("%v after %v", exit, took)
		}
		time.Sleep(time.Hour) // a bubble must not end before its goroutines
	})
}

// plain is a client of somebody else's making.
type plain struct{}

func (plain) Name() string                            { return "plain" }
func (plain) Run(ctx context.Context, _ Target) error { panic("mine") }

func TestForeignClientsAreGuardedToo(t *testing.T) {
	exit, _ := runClient(t.Context(), plain{}, target)
	if exit.Err == nil || exit.Err.Error() != "plain panicked: mine" {
		t.Error(exit.Err)
	}
}
