package driver

import "testing"

// BenchmarkCommand measures what starting and ending one client costs.
func BenchmarkCommand(b *testing.B) {
	client := Command("true")
	for b.Loop() {
		if err := client.Run(b.Context(), target); err != nil {
			b.Fatal(err)
		}
	}
}
