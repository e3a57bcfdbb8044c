package driver

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestRoomIsFreedOneByOne has a scenario of five clients with room for three: the first two that end give their room to the
// two that wait, each further one to the next scenario.
func TestRoomIsFreedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := NewSlots(3)
		first, err := slots.acquire(t.Context(), 5, 5)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		got := make(chan time.Duration)
		go func() {
			next, err := slots.acquire(t.Context(), 2, 2)
			if err != nil {
				t.Error(err)
				return
			}
			got <- time.Since(began)
			next.release()
		}()
		for range 4 {
			time.Sleep(time.Second)
			first.leave()
		}
		if after := <-got; after != 4*time.Second {
			t.Errorf("two had room after %v, want 4s: when one client is left of five", after)
		}
		first.leave()
		first.release()
		all, err := slots.acquire(t.Context(), 3, 3)
		if err != nil {
			t.Fatal("room was lost: ", err)
		}
		all.release()
	})
}
