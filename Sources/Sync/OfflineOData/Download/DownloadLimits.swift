/// The limits of a download, so that an endless response ends, whether sent by error or on purpose.
///
/// A read that exceeds a limit fails with ``OfflineError/endless(query:reason:)`` for its query alone. The stored
/// rows stay.
///
/// ```swift
/// var options = OfflineStore.Options()
/// options.sync.downloadLimits.rows = 100_000
/// ```
public struct DownloadLimits: Hashable, Sendable {
    /// The most rows that one read of a defining query may bring. `nil` uses the count of the service, which is
    /// requested after ``uncountedRows`` rows: twice the count, plus ``uncountedRows``.
    public var rows: Int?
    /// The most consecutive pages without rows. The default is 1,000.
    public var emptyPages = 1000
    /// The most bytes of a page without a row. The default is 64 MiB.
    public var bytesWithoutRow = 64 << 20
    /// The most rows that may be expanded in one entity, since they are held in memory. The default is 1,000,000.
    public var expandedRows = 1_000_000
    /// The most bytes of one stream. The default is 16 GiB.
    public var streamBytes: Int64 = 16 << 30

    /// The number of rows of a read that need no count: 10,000.
    public static let uncountedRows = 10_000
    /// The most rows of a read if the service does not count: 10,000,000.
    public static let rowsWithoutCount = 10_000_000

    /// Creates limits with the defaults.
    public init() {}

    /// The most rows of a read, for a given count of the service.
    func rows(counted: Int?) -> Int {
        if let rows { return rows }
        guard let counted else { return Self.rowsWithoutCount }
        let (double, overflows) = counted.multipliedReportingOverflow(by: 2)
        let (most, exceeds) = double.addingReportingOverflow(Self.uncountedRows)
        return overflows || exceeds ? .max : most
    }
}

/// The rows that a read of a query has brought so far, and its limits.
struct ReadBounds {
    private let query: String
    private let limits: DownloadLimits
    private let count: () async throws -> Int?
    private var rows = 0
    private var emptyPages = 0
    private var counted: Int??

    /// - Parameters:
    ///   - query: the name of the query.
    ///   - count: asks the service how many rows there are; `nil` if it does not say.
    init(of query: String, _ limits: DownloadLimits, count: @escaping () async throws -> Int?) {
        self.query = query
        self.limits = limits
        self.count = count
    }

    /// Counts received rows.
    ///
    /// - Throws: ``OfflineError/endless(query:reason:)``, and the errors of counting.
    mutating func add(_ received: Int) async throws {
        rows += received
        guard rows > limits.rows ?? DownloadLimits.uncountedRows else { return }
        if counted == nil, limits.rows == nil { counted = .some(try await count()) }
        let told = counted ?? nil
        guard rows > limits.rows(counted: told) else { return }
        let expected = limits.rows.map { "the limit is \($0)" } ?? told.map { "the service counts \($0)" }
        throw OfflineError.endless(
            query: query, reason: "\(rows) rows came, and \(expected ?? "the service does not say how many there are")")
    }

    /// Counts the end of a page with a number of rows.
    ///
    /// - Throws: ``OfflineError/endless(query:reason:)``.
    mutating func endPage(rows: Int) throws {
        emptyPages = rows == 0 ? emptyPages + 1 : 0
        guard emptyPages > limits.emptyPages else { return }
        throw OfflineError.endless(query: query, reason: "\(emptyPages) pages without rows came one after the other")
    }

    /// Counts a whole page with a number of rows.
    ///
    /// - Throws: ``OfflineError/endless(query:reason:)``, and the errors of counting.
    mutating func addPage(rows: Int) async throws {
        try await add(rows)
        try endPage(rows: rows)
    }
}
