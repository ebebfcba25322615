import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Compiles bound queries to SQL on a storage mapping.
///
/// ```swift
/// let compiler = SQLCompiler(mapping: mapping, options: .init(now: clock.now))
/// let compiled = try compiler.compile(query)
/// let rows = try Row.fetchAll(database, sql: compiled.sql, arguments: compiled.arguments)
/// ```
///
/// Values are only ever bound. What has no exact SQL is refused with ``ODataError/notImplemented(_:)`` and its
/// name, never approximated.
public struct SQLCompiler: Sendable {
    /// What a statement depends on besides the query.
    public struct Options: Sendable {
        /// The value of `now()`.
        public var now: ODataDateTimeOffset
        /// Whether rows of unfinished downloads are to be hidden; the condition costs nothing when none are.
        public var hasHiddenOwners: Bool
        /// The rows of a set that exist for the caller, by the set's name; all where it is `nil`. A statement
        /// compiled with it is good for this caller alone.
        package var rowFilter: (@Sendable (String) throws -> RowFilter?)?

        /// The tables that have a full-text index.
        public var searchIndexes: Set<String>

        /// What the store holds; everything where it is `nil`.
        public var loadedData: (any LoadedData)?

        /// Makes options.
        public init(now: ODataDateTimeOffset, hasHiddenOwners: Bool = false, searchIndexes: Set<String> = []) {
            self.now = now
            self.hasHiddenOwners = hasHiddenOwners
            self.searchIndexes = searchIndexes
        }

        /// Without what comes and goes between two pages of a query: downloads and full-text indexes.
        var lasting: Options {
            var lasting = self
            lasting.hasHiddenOwners = false
            lasting.searchIndexes = []
            lasting.loadedData = nil
            return lasting
        }

        /// Whether anything may have come that goes again.
        var isPassing: Bool { hasHiddenOwners || !searchIndexes.isEmpty }
    }

    /// Where the data lies.
    public let mapping: StorageMapping
    /// What statements depend on besides the query.
    public let options: Options

    /// Makes a compiler.
    public init(mapping: StorageMapping, options: Options) {
        self.mapping = mapping
        self.options = options
    }

    /// Compiles a query over a whole entity set.
    ///
    /// - Throws: ``ODataError`` 501 with the name of what has no SQL.
    public func compile(_ query: BoundQuery) throws -> CompiledQuery {
        guard let set = query.set else { throw ODataError.notImplemented("a collection without an entity set") }
        return try compile(query, at: [.entitySet(set, query.shape)])
    }

    /// Compiles a query over the rows that a resource path addresses.
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - segments: the path, from an entity set or singleton on, without structural properties at its end.
    /// - Throws: ``ODataError`` 501 with the name of what has no SQL.
    public func compile(_ query: BoundQuery, at segments: [BoundSegment]) throws -> CompiledQuery {
        try compile(query, at: segments, literals: [])
    }

    /// - Parameter literals: the literals of the request, where the statement is kept for others.
    func compile(
        _ query: BoundQuery, at segments: [BoundSegment], literals: [ODataValue]
    ) throws -> CompiledQuery {
        do {
            return try StatementBuilder.build(
                query, at: segments, mapping: mapping, options: options, literals: literals)
        } catch let error as StoredValueError {
            // A literal that the form of its own type cannot hold.
            throw ODataError(status: 400, code: "InvalidQuery", message: error.description)
        }
    }
}
