import ODataModel
import OfflineOData
@_exported import enum OfflineOData.PendingChange

/// The identity of an object on this device, which it keeps when the service gives it another key.
public struct SurrogateKey: RawRepresentable, Hashable, Sendable {
    /// The number of the row.
    public let rawValue: Int64

    /// Creates a key.
    public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// The state of an object: ten attributes of its changes. It was computed when the object was
/// read; ``PackageDatabase/refresh(_:)`` reads it anew.
public struct ObjectState: Hashable, Sendable {
    /// The identity on this device; `nil` for an object that was never saved.
    public var surrogateKey: SurrogateKey?
    /// Whether the object was not read from the database.
    public var isNew: Bool
    /// Whether a creation of the object waits, is on its way or was refused.
    public var isCreated: Bool
    /// Whether attributes were set since the object was read.
    public var isDirty: Bool
    /// Whether the object is deleted.
    public var isDeleted: Bool
    /// Whether a change of the object, of its streams or of its relations waits, is on its way or was refused.
    public var isUpdated: Bool
    /// The change that waits: of the object itself, or of one of its parts.
    public var pendingChange: PendingChange
    /// The number of the last saved edit, from one ascending sequence of the database; 0 for an object that was never
    /// edited.
    public var replayCounter: Int64
    /// The number of the edit that was submitted and has no answer yet; 0 for none.
    public var replayPending: Int64
    /// The number of the edit that the service refused, or that has an unknown outcome; 0 for none.
    public var replayFailure: Int64

    /// Whether a change of the object or of one of its parts waits.
    public var isPending: Bool { pendingChange != .none }

    init(_ entity: ODataEntity) {
        let state = entity.replayState
        surrogateKey = state.map { SurrogateKey(rawValue: $0.row.rowID) }
        isNew = state == nil
        isDirty = !entity.changedProperties.isEmpty
        isCreated = state?.isCreated ?? false
        isUpdated = state?.isUpdated ?? false
        isDeleted = state?.isDeleted ?? false
        pendingChange = state?.change ?? .none
        replayCounter = state?.counter ?? 0
        replayPending = state?.submitted ?? 0
        replayFailure = state?.failed ?? 0
    }
}
