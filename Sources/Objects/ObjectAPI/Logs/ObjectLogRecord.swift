import ODataModel
import OfflineOData

/// A log record of a package: about a refused change, about a failed sign-in, or from the app. It never has values of
/// changes or credentials.
public struct ObjectLogRecord: Hashable, Sendable {
    /// The places where a record is kept.
    enum Place: Hashable, Sendable {
        /// Nowhere: it was not added yet.
        case none
        /// In the database alone.
        case store(Int64)
        /// In the service's set of log records, by its key there.
        case service(String)
    }

    /// The number in the set where the record is kept; 0 for a record that was not added yet.
    public var messageID: Int64 = 0
    /// The operation: `create`, `update`, `delete`, the action that was called, or `login`.
    public var operation: String
    /// The time; `nil` for a record that was not added yet.
    public var timestamp: ODataDateTimeOffset?
    /// The type of the object that the record is about.
    public var component: String
    /// The key of that object, in the form of a URL without parentheses.
    public var entityKey: String
    /// The message.
    public var message: String
    /// The level.
    public var level: LogRecordLevel
    /// The logical code, an HTTP status; `nil` for none.
    public var code: Int?
    /// The code of the back end; `nil` for none.
    public var backEndCode: String?
    /// The `Repeatability-Request-ID` of the change; `nil` for none.
    public var requestID: String?
    /// The place where it is kept.
    var place = Place.none

    /// Whether the record is kept in this database alone.
    public var isLocal: Bool { if case .service = place { false } else { true } }

    /// Creates a record that ``LogRecords/add(_:for:)`` adds.
    public init(
        _ message: String, level: LogRecordLevel = .info, operation: String = "", code: Int? = nil,
        backEndCode: String? = nil
    ) {
        self.message = message
        self.level = level
        self.operation = operation
        self.code = code
        self.backEndCode = backEndCode
        component = ""
        entityKey = ""
    }

    init(_ record: StoreLogRecord) {
        self.init(
            record.message, level: LogRecordLevel(name: record.level), operation: record.operation, code: record.code,
            backEndCode: record.backEndCode)
        messageID = record.id
        timestamp = record.at
        component = record.component
        entityKey = record.entityKey
        requestID = record.requestID
        place = .store(record.id)
    }

    /// Reads a record of the service's set.
    init(_ entity: ODataEntity) {
        func text(_ name: String) -> String? { entity[name]?.lexicalText }
        self.init(
            text("Message") ?? "", level: LogRecordLevel(name: text("Level") ?? ""), operation: text("Operation") ?? "",
            code: text("Code").flatMap { Int($0) }, backEndCode: text("EisCode"))
        messageID = text("MessageId").flatMap { Int64($0) } ?? 0
        timestamp = text("Timestamp").flatMap { ODataDateTimeOffset($0) }
        component = text("Component") ?? ""
        entityKey = text("EntityKey") ?? ""
        requestID = text("RequestId")
        place = .service(text("MessageId") ?? "")
    }
}
