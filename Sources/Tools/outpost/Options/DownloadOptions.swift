import ArgumentParser
import OfflineOData

/// How much is taken from a service.
struct DownloadOptions: ParsableArguments {
    @Option(
        name: .customLong("max-rows"),
        help: ArgumentHelp(
            "The most rows of a query. Without it, twice as many as the service counts and "
                + "\(DownloadLimits.uncountedRows) more; "
                + "\(DownloadLimits.rowsWithoutCount) where it does not count.", valueName: "number"))
    var maxRows: Int?

    @Flag(
        name: .customLong("strict-values"),
        help: "Refuse an answer with a value that cannot be read, instead of leaving that value out.")
    var strictValues = false

    func validate() throws {
        guard maxRows.map({ $0 > 0 }) ?? true else { throw ValidationError("--max-rows is 1 or more.") }
    }

    /// The limits of a download.
    var limits: DownloadLimits {
        var limits = DownloadLimits()
        limits.rows = maxRows
        return limits
    }
}
