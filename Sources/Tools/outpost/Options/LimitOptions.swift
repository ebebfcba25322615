import ArgumentParser
import ODataServer
import ODataService
import ToolLanguage

/// The resources of each request that `outpost serve` answers, and the time to stop.
struct LimitOptions: ParsableArguments {
    @Option(
        name: .customLong("max-time"),
        help: .text(
            "The maximum processor time of a request, without its transfer; 0 for no limit.", valueName: "seconds"))
    var time = Int(RequestBudget.Limits.defaultStatementTime.components.seconds)

    @Option(
        name: .customLong("max-rows"),
        help: .text(
            "The maximum number of rows of a response over all levels of $expand; 0 for no limit.", valueName: "rows"))
    var rows = RequestBudget.Limits.defaultRows

    @Option(
        name: .customLong("max-memory"),
        help: .text("The maximum memory of a response; 0 for no limit.", valueName: "MiB"))
    var memory = RequestBudget.Limits.defaultHeldBytes >> 20

    @Option(
        name: .customLong("drain-time"),
        help: .text(
            "How long requests may go on after Ctrl-C or SIGTERM before the process ends.", valueName: "seconds"))
    var drain = Int(ODataServer.Configuration.defaultDrainTime.components.seconds)

    mutating func validate() throws {
        for (name, value) in [("--max-time", time), ("--max-rows", rows), ("--max-memory", memory)] {
            guard (0...1_000_000_000).contains(value) else {
                throw ValidationError(translated("\(name) is a number from 0 to 1000000000."))
            }
        }
        guard (1...86_400).contains(drain) else {
            throw ValidationError(translated("--drain-time is 1 to 86400 seconds."))
        }
    }

    /// The budget of each request.
    var budget: RequestBudget.Limits {
        RequestBudget.Limits(
            statementTime: time == 0 ? nil : .seconds(time), rows: rows == 0 ? nil : rows,
            heldBytes: memory == 0 ? nil : memory << 20)
    }

    var drainTime: Duration { .seconds(drain) }
}
