package telemetry

import "go.opentelemetry.io/otel/attribute"

// scope names the instrumentation.
const scope = "github.com/gantry-run/gantry"

// Attributes of the MCP, RPC and CI/CD conventions (open-telemetry/semantic-conventions
// and -genai), kept here because the conventions for MCP are not yet released as Go
// constants, and Gantry's own below.
const (
	keyMethod         = attribute.Key("mcp.method.name")
	keyProtocol       = attribute.Key("mcp.protocol.version")
	keySession        = attribute.Key("mcp.session.id")
	keyTool           = attribute.Key("gen_ai.tool.name")
	keyArguments      = attribute.Key("gen_ai.tool.call.arguments")
	keyOperation      = attribute.Key("gen_ai.operation.name")
	keyRequestID      = attribute.Key("jsonrpc.request.id")
	keyTransport      = attribute.Key("network.transport")
	keyStatusCode     = attribute.Key("rpc.response.status_code")
	keyErrorType      = attribute.Key("error.type")
	keyPipeline       = attribute.Key("cicd.pipeline.name")
	keyAction         = attribute.Key("cicd.pipeline.action.name")
	keyPipelineRun    = attribute.Key("cicd.pipeline.run.id")
	keyPipelineState  = attribute.Key("cicd.pipeline.run.state")
	keyPipelineResult = attribute.Key("cicd.pipeline.result")
	keyTask           = attribute.Key("cicd.pipeline.task.name")
	keyTaskRun        = attribute.Key("cicd.pipeline.task.run.id")
	keyTaskResult     = attribute.Key("cicd.pipeline.task.run.result")

	keyToolset   = attribute.Key("gantry.toolset")
	keyRun       = attribute.Key("gantry.run.id")
	keyErrorCode = attribute.Key("gantry.error.code")
	keyOutcome   = attribute.Key("gantry.outcome")
	keyReason    = attribute.Key("gantry.reason")
	keyGate      = attribute.Key("gantry.gate")
	keyResult    = attribute.Key("gantry.result")
	keyKind      = attribute.Key("gantry.run.kind")
	keyState     = attribute.Key("gantry.run.state")
	keyAttempt   = attribute.Key("gantry.attempt")
	keyExecutor  = attribute.Key("gantry.executor")
	keyTokenType = attribute.Key("gen_ai.token.type")
)

// The events of a call that did not succeed, on its span and in its record.
const (
	EventToolFailed  = "MCP_TOOL_FAILED"
	EventToolTimeout = "MCP_TOOL_TIMEOUT"
)

// other stands for every name that is not known.
const other = "_OTHER"
