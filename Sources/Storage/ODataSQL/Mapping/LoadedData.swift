import ODataService

/// A description of the data that a store contains.
///
/// A read that needs missing data throws an error with the name of the data, instead of returning an empty result.
/// An offline store contains the data of its defining queries. A provider of a complete database needs no such
/// description.
public protocol LoadedData: Sendable {
    /// A number that changes when a result of the methods below may change. Cached statements are then compiled
    /// again.
    var version: Int { get }

    /// Returns the missing data of an entity set or singleton; `nil` if the set is available.
    ///
    /// - Parameter set: the name in the mapping (``TableStorage/set``).
    func missing(_ set: String) -> MissingData?

    /// Returns the missing data of a navigation property; `nil` if the relations of all rows are available.
    ///
    /// - Parameters:
    ///   - relation: the path of the navigation property (``TableStorage/navigation``).
    ///   - set: the set of the rows at the start of the path (``TableStorage/set``).
    func missing(_ relation: String, of set: String) -> MissingData?
}

/// Data of a service that a store lacks, either completely or for some rows.
public struct MissingData: Sendable {
    /// The condition for rows whose relation is available; `nil` if there are none.
    public var exceptRows: RowCondition?
    /// The error for reads that need the data.
    public var error: ODataError

    /// Creates a description of missing data.
    public init(exceptRows: RowCondition? = nil, error: ODataError) {
        self.exceptRows = exceptRows
        self.error = error
    }
}
