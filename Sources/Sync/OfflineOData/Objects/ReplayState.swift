import ODataModel
import ODataService

/// The change of an entity that the service has not accepted yet.
public enum PendingChange: String, Hashable, Sendable, CaseIterable {
    /// The entity was created here.
    case create = "C"
    /// The entity, one of its streams or one of its relations was changed here.
    case update = "U"
    /// The entity was deleted here.
    case delete = "D"
    /// A part of the entity has a change, at whatever distance.
    case parent = "P"
    /// There is none.
    case none = "N"
}

/// The state of the changes of an entity, as a read tells that asks for it (``RequestContext/readsReplayState``).
public struct ReplayState: Hashable, Sendable {
    /// The row of the entity in the store, which it keeps when its key changes.
    public var row: RowReference
    /// The change that waits, computed when the entity was read.
    public var change: PendingChange
    /// Whether the queue has a creation of the entity, in any state.
    public var isCreated: Bool
    /// Whether the queue has a change of the entity, of its streams or of its relations, in any state.
    public var isUpdated: Bool
    /// Whether the entity is deleted here.
    public var isDeleted: Bool
    /// The number of the last edit, from one ascending sequence of the store; 0 for an entity that was never edited.
    public var counter: Int64
    /// The number of the edit that was submitted and has no answer yet; 0 for none.
    public var submitted: Int64
    /// The number of the edit that was refused or has an unknown outcome; 0 for none.
    public var failed: Int64

    init(
        row: RowReference, change: PendingChange = .none, isCreated: Bool = false, isUpdated: Bool = false,
        isDeleted: Bool = false, counter: Int64 = 0, submitted: Int64 = 0, failed: Int64 = 0
    ) {
        self.row = row
        self.change = change
        self.isCreated = isCreated
        self.isUpdated = isUpdated
        self.isDeleted = isDeleted
        self.counter = counter
        self.submitted = submitted
        self.failed = failed
    }
}

extension ReplayState {
    /// The annotation of an entity that holds the state.
    static let term = "\(EngineSet.namespace).ReplayState"

    /// The state as the value of an annotation.
    var annotation: ODataValue {
        .collection([
            .string(row.set), .integer(row.rowID), .string(change.rawValue), .boolean(isCreated), .boolean(isUpdated),
            .boolean(isDeleted), .integer(counter), .integer(submitted), .integer(failed),
        ])
    }

    init?(annotation: ODataValue?) {
        guard case .collection(let values)? = annotation, values.count == 9, case .string(let set) = values[0],
            case .integer(let rowID) = values[1], case .string(let text) = values[2],
            let change = PendingChange(rawValue: text), case .boolean(let isCreated) = values[3],
            case .boolean(let isUpdated) = values[4], case .boolean(let isDeleted) = values[5],
            case .integer(let counter) = values[6], case .integer(let submitted) = values[7],
            case .integer(let failed) = values[8]
        else { return nil }
        self.init(
            row: RowReference(set: set, rowID: rowID), change: change, isCreated: isCreated, isUpdated: isUpdated,
            isDeleted: isDeleted, counter: counter, submitted: submitted, failed: failed)
    }
}

extension ODataEntity {
    /// The state of the entity's changes; `nil` if the read did not ask for it.
    public var replayState: ReplayState? {
        get { ReplayState(annotation: control.annotations[ReplayState.term]) }
        set { control.annotations[ReplayState.term] = newValue?.annotation }
    }
}

/// The wish that read entities tell the state of their changes.
private struct ReplayStateWish: RequestContextValue {}

extension RequestContext {
    /// Whether the entities that a store reads have their ``/ODataModel/ODataEntity/replayState``. False unless set, so
    /// that other reads do not pay for it.
    public var readsReplayState: Bool {
        get { self[ReplayStateWish.self] != nil }
        set { self[ReplayStateWish.self] = newValue ? ReplayStateWish() : nil }
    }
}
