import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Compiles bound queries to SQL for a storage mapping.
///
/// ```swift
/// let compiler = SQLCompiler(mapping: mapping, options: .init(now: clock.now))
/// let compiled = try compiler.compile(query)
/// let rows = try Row.fetchAll(database, sql: compiled.sql, arguments: compiled.arguments)
/// ```
///
/// Values are always bound as arguments. A construct without an exact SQL equivalent is refused with
/// ``ODataError/notImplemented(_:)`` and its name, and never approximated.
public struct SQLCompiler: Sendable {
    /// The conditions of a statement in addition to the query.
    public struct Options: Sendable {
        /// The value of `now()`.
        public var now: ODataDateTimeOffset
        /// Whether rows of unfinished downloads must be hidden. If `false`, the statement has no condition for
        /// them.
        public var hasHiddenOwners: Bool
        /// Returns the filter for the visible rows of a set; `nil` if all rows are visible. A statement with a
        /// filter is valid for this caller only.
        package var rowFilter: (@Sendable (String) throws -> RowFilter?)?

        /// The tables with a full-text index.
        public var searchIndexes: Set<String>

        /// The data that the store contains; `nil` if it contains everything.
        public var loadedData: (any LoadedData)?

        /// Creates options.
        public init(now: ODataDateTimeOffset, hasHiddenOwners: Bool = false, searchIndexes: Set<String> = []) {
            self.now = now
            self.hasHiddenOwners = hasHiddenOwners
            self.searchIndexes = searchIndexes
        }

        /// The options without conditions that may change between two pages of a query: unfinished downloads and
        /// full-text indexes.
        var lasting: Options {
            var lasting = self
            lasting.hasHiddenOwners = false
            lasting.searchIndexes = []
            lasting.loadedData = nil
            return lasting
        }

        /// Whether the options include conditions that may change.
        var isPassing: Bool { hasHiddenOwners || !searchIndexes.isEmpty }
    }

    /// The tables and columns of the data.
    public let mapping: StorageMapping
    /// The conditions of statements in addition to the query.
    public let options: Options

    /// Creates a compiler.
    public init(mapping: StorageMapping, options: Options) {
        self.mapping = mapping
        self.options = options
    }

    /// Compiles a query on a whole entity set.
    ///
    /// - Throws: ``ODataError`` 501 with the name of a construct that has no SQL.
    public func compile(_ query: BoundQuery) throws -> CompiledQuery {
        guard let set = query.set else { throw ODataError.notImplemented("a collection without an entity set") }
        return try compile(query, at: [.entitySet(set, query.shape)])
    }

    /// Compiles a query on the rows that a resource path addresses.
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - segments: the path from an entity set or singleton, without structural properties at its end.
    /// - Throws: ``ODataError`` 501 with the name of a construct that has no SQL.
    public func compile(_ query: BoundQuery, at segments: [BoundSegment]) throws -> CompiledQuery {
        try compile(query, at: segments, literals: [])
    }

    /// Compiles a dynamic query.
    ///
    /// - Throws: ``ODataError`` 501 with the name of a construct that has no SQL.
    public func compile(_ selection: BoundSelection) throws -> CompiledQuery {
        let compiler = ExpressionCompiler(mapping: mapping, options: options)
        do {
            return try SelectionCompiler(compiler: compiler).statement(of: selection)
        } catch let error as StoredValueError {
            throw ODataError(status: 400, code: "InvalidQuery", message: error.description)
        }
    }

    /// Compiles a query whose statement other requests may share.
    ///
    /// - Parameter literals: the literals of the request; empty if the statement is not shared.
    func compile(
        _ query: BoundQuery, at segments: [BoundSegment], literals: [ODataValue]
    ) throws -> CompiledQuery {
        do {
            return try StatementBuilder.build(
                query, at: segments, mapping: mapping, options: options, literals: literals)
        } catch let error as StoredValueError {
            // The literal does not fit the stored form of its type.
            throw ODataError(status: 400, code: "InvalidQuery", message: error.description)
        }
    }
}
