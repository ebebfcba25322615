/// How much a download takes from a service, so that one that never ends, by error or on purpose, has an end.
///
/// A read that exceeds a limit fails with ``OfflineError/endless(query:reason:)`` of its query alone; what is in the store stays.
///
/// ```swift
/// var options = OfflineStore.Options()
/// options.sync.downloadLimits.rows = 100_000
/// ```
public struct DownloadLimits: Hashable, Sendable {
    /// The most rows that one read of a defining query may bring; `nil` to go by the service's own count, which is then asked
    /// for once more than ``uncountedRows`` came: twice as many, and ``uncountedRows`` more.
    public var rows: Int?
    /// The most pages without rows that may follow one another, 1,000 unless given.
    public var emptyPages = 1000
    /// The most bytes of a page that may come without a row, 64 MiB unless given.
    public var bytesWithoutRow = 64 << 20
    /// The most rows that may be expanded in one entity, 1,000,000 unless given: they are held in memory.
    public var expandedRows = 1_000_000
    /// The most bytes of one stream, 16 GiB unless given.
    public var streamBytes: Int64 = 16 << 30

    /// How many rows of a read need no count: 10,000.
    public static let uncountedRows = 10_000
    /// The most rows of a read if the service does not count: 10,000,000.
    public static let rowsWithoutCount = 10_000_000

    /// Makes limits with the defaults.
    public init() {}

    /// The most rows of a read of which the service says that it has so many.
    func rows(counted: Int?) -> Int {
        if let rows { return rows }
        guard let counted else { return Self.rowsWithoutCount }
        let (double, overflows) = counted.multipliedReportingOverflow(by: 2)
        let (most, exceeds) = double.addingReportingOverflow(Self.uncountedRows)
        return overflows || exceeds ? .max : most
    }
}

/// What one read of a query has brought so far, and how much more it may.
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

    /// Notes rows that came.
    ///
    /// - Throws: ``OfflineError/endless(query:reason:)``, and what counting throws.
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

    /// Notes the end of a page with so many rows.
    ///
    /// - Throws: ``OfflineError/endless(query:reason:)``.
    mutating func endPage(rows: Int) throws {
        emptyPages = rows == 0 ? emptyPages + 1 : 0
        guard emptyPages > limits.emptyPages else { return }
        throw OfflineError.endless(query: query, reason: "\(emptyPages) pages without rows came one after the other")
    }

    /// Notes a whole page with so many rows.
    ///
    /// - Throws: ``OfflineError/endless(query:reason:)``, and what counting throws.
    mutating func addPage(rows: Int) async throws {
        try await add(rows)
        try endPage(rows: rows)
    }
}
