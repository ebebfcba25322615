import ArgumentParser
import OfflineOData
import ToolLanguage

/// The options that limit a download.
struct DownloadOptions: ParsableArguments {
    @Option(
        name: .customLong("max-rows"),
        help: .text(
            """
            The maximum number of rows of a query. The default is twice the count of the service plus \
            \(DownloadLimits.uncountedRows), or \(DownloadLimits.rowsWithoutCount) without a count.
            """,
            valueName: "number"))
    var maxRows: Int?

    @Flag(
        name: .customLong("strict-values"),
        help: .text("Refuse a response with an unreadable value instead of leaving out the value."))
    var strictValues = false

    func validate() throws {
        guard maxRows.map({ $0 > 0 }) ?? true else { throw ValidationError(translated("--max-rows is 1 or more.")) }
    }

    /// The limits of a download.
    var limits: DownloadLimits {
        var limits = DownloadLimits()
        limits.rows = maxRows
        return limits
    }
}
