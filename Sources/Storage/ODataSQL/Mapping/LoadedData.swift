import ODataService

/// Tells which parts of a service's data a store holds: a read that needs another part is refused with its name, and never
/// answered as if there were nothing.
///
/// An offline store holds what its defining queries bring; a database that is served whole needs no such description.
public protocol LoadedData: Sendable {
    /// A number that changes whenever an answer of the methods below may: statements that were compiled before are compiled
    /// again then.
    var version: Int { get }

    /// What a read of an entity set or singleton lacks; `nil` where the set is held.
    ///
    /// - Parameter set: the name in the mapping (``TableStorage/set``).
    func missing(_ set: String) -> MissingData?

    /// What a read along a navigation property lacks; `nil` where the relations of all rows are held.
    ///
    /// - Parameters:
    ///   - relation: the path of the navigation property (``TableStorage/navigation``).
    ///   - set: the set of the rows that the path begins at (``TableStorage/set``).
    func missing(_ relation: String, of set: String) -> MissingData?
}

/// A part of a service's data that a store does not hold, or not for all rows.
public struct MissingData: Sendable {
    /// The rows whose relation is held nevertheless; `nil` for none.
    public var exceptRows: RowCondition?
    /// The refusal of a read that needs it.
    public var error: ODataError

    /// Describes a missing part.
    public init(exceptRows: RowCondition? = nil, error: ODataError) {
        self.exceptRows = exceptRows
        self.error = error
    }
}
