// Judges histories of locks and semaphores, one operation a line of JSON, by
// porcupine: is there an order of the operations, each at some moment between
// its call and its return, in which each answer is right?
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// Kind: grant, release (Ok: it was held), or end: the hold may have ended by
// itself, or not.  Of a semaphore a hold has Permits; Hold is a fence of a lock.
// at: its place in the history.
type op struct {
	Kind    string
	Client  int
	Hold    int64
	Permits int
	Ok      bool
	Call    int64
	Return  int64
	at      int
}

type lockState struct{ holder, highest int64 }

// One holder at a time, and fences that rise with each grant.
var lock = porcupine.Model{
	Init: func() interface{} { return lockState{} },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		s, o := state.(lockState), input.(op)
		switch {
		case o.Kind == "grant":
			return s.holder == 0 && o.Hold > s.highest, lockState{o.Hold, o.Hold}
		case o.Kind == "release" && (s.holder == o.Hold) != o.Ok:
			return false, s
		case s.holder == o.Hold:
			s.holder = 0
		}
		return true, s
	},
	DescribeOperation: func(input, _ interface{}) string { return fmt.Sprint(input) },
}

// The permits that are out are never more than the limit; the state is the holds, in order.
func semaphore(limit int) porcupine.Model {
	return porcupine.Model{
		Init: func() interface{} { return "" },
		Step: func(state, input, _ interface{}) (bool, interface{}) {
			o := input.(op)
			holds := strings.Fields(state.(string))
			me, used, at := fmt.Sprintf("%d:%d", o.Hold, o.Permits), 0, -1
			for i, hold := range holds {
				var id int64
				var permits int
				fmt.Sscanf(hold, "%d:%d", &id, &permits)
				used += permits
				if hold == me {
					at = i
				}
			}
			switch {
			case o.Kind == "grant" && (at >= 0 || used+o.Permits > limit):
				return false, state
			case o.Kind == "grant":
				holds = append(holds, me)
				sort.Strings(holds)
			case o.Kind == "release" && (at >= 0) != o.Ok:
				return false, state
			case at >= 0:
				holds = append(holds[:at], holds[at+1:]...)
			}
			return true, strings.Join(holds, " ")
		},
		DescribeOperation: func(input, _ interface{}) string { return fmt.Sprint(input) },
	}
}

// Where no order goes on: the last steps of the longest one, and what no order has.
func explain(info porcupine.LinearizationInfo, history []porcupine.Operation) {
	var longest []int
	for _, order := range info.PartialLinearizations()[0] {
		if len(order) > len(longest) {
			longest = order
		}
	}
	placed := map[int]bool{}
	for i, at := range longest {
		placed[at] = true
		if i >= len(longest)-4 {
			fmt.Fprintln(os.Stderr, "placed", history[at])
		}
	}
	sort.Slice(history, func(i, j int) bool { return history[i].Return < history[j].Return })
	left := 0
	for _, o := range history {
		if !placed[o.Input.(op).at] && left < 8 {
			left++
			fmt.Fprintln(os.Stderr, "left", o)
		}
	}
}

func main() {
	var limit, grants int
	fmt.Sscan(os.Args[1], &limit)
	model := lock
	if limit > 1 {
		model = semaphore(limit)
	}
	var history []porcupine.Operation
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var o op
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			panic(err)
		}
		if o.Kind == "grant" {
			grants++
		}
		o.at = len(history)
		history = append(history, porcupine.Operation{
			ClientId: o.Client, Input: o, Call: o.Call, Return: o.Return})
	}
	verdict := porcupine.CheckOperationsTimeout(model, history, 20*time.Second)
	fmt.Println(verdict, grants)
	if verdict == porcupine.Illegal {
		_, info := porcupine.CheckOperationsVerbose(model, history, 20*time.Second)
		explain(info, history)
	}
}
