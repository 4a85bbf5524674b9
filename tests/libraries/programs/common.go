// What the programs in Go share: each step says what it came to, in words.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"
)

var ctx = context.Background()

// Two addresses: of the one broker, and of the other.
var addresses = []string{"127.0.0.1:" + os.Args[1], "127.0.0.1:" + os.Args[2]}

// The port of the witness of faults.py and our number there, or nothing.
var witness = strings.Fields(os.Getenv("WITNESS"))

func busy() time.Duration {
	if len(witness) > 0 {
		return 6 * time.Second
	}
	return 20 * time.Second
}

func say(what string, result any) {
	if err, ok := result.(error); ok {
		for errors.Unwrap(err) != nil {
			err = errors.Unwrap(err)
		}
		result = reflect.TypeOf(err).String() + " " + err.Error()
	}
	fmt.Println(what, result)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func sleep(ms int) { time.Sleep(time.Duration(ms) * time.Millisecond) }

// While it has the lock: says so to the witness, and goes on when told to.
func witnessed() {
	conn, err := net.Dial("tcp", "127.0.0.1:"+witness[0])
	check(err)
	fmt.Fprintln(conn, witness[1])
	_, err = bufio.NewReader(conn).ReadByte()
	check(err)
	conn.Close()
}

// Takes the lock again and again, until it is killed.
func hunt(turn func(number int, work func()) error) {
	number := int(witness[1][0] - '0')
	for {
		if err := turn(number, witnessed); err != nil {
			fmt.Printf("error %T: %s\n", err, strings.ReplaceAll(err.Error(), "\n", " "))
			sleep(50)
		}
	}
}

// A file that must not be there shows two at a time.
func contend(turn func(number int, work func()) error) {
	if len(witness) > 0 {
		hunt(turn)
	}
	path := fmt.Sprintf("/tmp/lbl-%d", os.Getpid())
	var group sync.WaitGroup
	var lock sync.Mutex
	done := 0
	for number := 0; number < 8; number++ {
		group.Add(1)
		go func(number int) {
			defer group.Done()
			for i := 0; i < 5; i++ {
				check(turn(number, func() {
					file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0600)
					check(err)
					sleep(1)
					check(file.Close())
					check(os.Remove(path))
					lock.Lock()
					done++
					lock.Unlock()
				}))
			}
		}(number)
	}
	group.Wait()
	fmt.Println("contend", done)
}
