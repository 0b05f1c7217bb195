package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The cost of a trivial call through this transport and through the SDK's own,
// over the same pipes.
func BenchmarkRoundTrip(b *testing.B) {
	for _, bench := range []struct {
		name string
		make func(in *io.PipeReader, out *io.PipeWriter) mcp.Transport
	}{
		{"gantry", func(in *io.PipeReader, out *io.PipeWriter) mcp.Transport { return &Transport{In: in, Out: out} }},
		{"sdk", func(in *io.PipeReader, out *io.PipeWriter) mcp.Transport {
			return &mcp.IOTransport{Reader: in, Writer: out}
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			in, toServer := io.Pipe()
			fromServer, out := io.Pipe()
			server := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
			server.AddTool(&mcp.Tool{Name: "nothing", InputSchema: json.RawMessage(`{"type":"object"}`)},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return &mcp.CallToolResult{}, nil
				})
			session, err := server.Connect(b.Context(), bench.make(in, out), nil)
			if err != nil {
				b.Fatal(err)
			}
			answers := bufio.NewReader(fromServer)
			trip := func(line string) {
				if _, err := io.WriteString(toServer, line+"\n"); err != nil {
					b.Fatal(err)
				}
				if _, err := answers.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
			trip(initialize)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				trip(callTool(fmt.Sprint(i), "nothing", "x"))
			}
			toServer.Close()
			_ = session.Wait()
		})
	}
}
