package contract

import "sync"

// lazy is work that is done once, by a goroutine of its own, whoever asks for it first. Waiting for it blocks on a channel
// (not on a lock as sync.OnceValue does), which lets virtual time pass meanwhile.
type lazy[T any] struct {
	work  func() T
	once  sync.Once
	done  chan struct{}
	value T
}

func newLazy[T any](work func() T) *lazy[T] { return &lazy[T]{work: work, done: make(chan struct{})} }

// start begins the work unless it was begun, and returns a channel that is closed when it is done.
func (l *lazy[T]) start() <-chan struct{} {
	l.once.Do(func() {
		go func() {
			defer close(l.done)
			l.value = l.work()
		}()
	})
	return l.done
}

// get waits for the work's result.
func (l *lazy[T]) get() T {
	<-l.start()
	return l.value
}
