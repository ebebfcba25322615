// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ObjectAPI
import ODataModel
import ODataQuery
import ODataService

/// `Desk.LogRecord`.
struct LogRecord: Creatable, Updatable, Deletable {
    typealias Package = Desk
    typealias InitialValues = RequiredInitialValues
    static let typeName: QualifiedName = QualifiedName("Desk", "LogRecord")
    static let objectType: ObjectType<Desk> = ObjectType(number: 1107180029, entitySet: "LogRecords")
    static let requiredAttributes: [String] = []
    static var odataMetadata: GeneratedMetadata { DeskMetadata.metadata }
    static let odataShape: TypeShape = DeskMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// Makes an object of `Desk.LogRecord` that is not in the database yet.
    init() {
        odataEntity = ODataEntity(shape: Self.odataShape)
    }

    /// `MessageId`, Edm.Int64, not null, given by the service.
    var messageId: Int64? { odataEntity.typedValue(0, "MessageId") }

    /// `Operation`, Edm.String, at most 80.
    var operation: String? {
        get { odataEntity.typedValue(1, "Operation") }
        set { odataEntity.setTypedValue(1, "Operation", newValue) }
    }

    /// `Timestamp`, Edm.DateTimeOffset.
    var timestamp: ODataDateTimeOffset? {
        get { odataEntity.typedValue(2, "Timestamp") }
        set { odataEntity.setTypedValue(2, "Timestamp", newValue) }
    }

    /// `Component`, Edm.String, at most 80.
    var component: String? {
        get { odataEntity.typedValue(3, "Component") }
        set { odataEntity.setTypedValue(3, "Component", newValue) }
    }

    /// `EntityKey`, Edm.String, at most 200.
    var entityKey: String? {
        get { odataEntity.typedValue(4, "EntityKey") }
        set { odataEntity.setTypedValue(4, "EntityKey", newValue) }
    }

    /// `Message`, Edm.String, at most 2000.
    var message: String? {
        get { odataEntity.typedValue(5, "Message") }
        set { odataEntity.setTypedValue(5, "Message", newValue) }
    }

    /// `Level`, Edm.String, at most 10.
    var level: String? {
        get { odataEntity.typedValue(6, "Level") }
        set { odataEntity.setTypedValue(6, "Level", newValue) }
    }

    /// `Code`, Edm.Int32.
    var code: Int32? {
        get { odataEntity.typedValue(7, "Code") }
        set { odataEntity.setTypedValue(7, "Code", newValue) }
    }

    /// `EisCode`, Edm.String, at most 80.
    var eisCode: String? {
        get { odataEntity.typedValue(8, "EisCode") }
        set { odataEntity.setTypedValue(8, "EisCode", newValue) }
    }

    /// `RequestId`, Edm.String, at most 80.
    var requestId: String? {
        get { odataEntity.typedValue(9, "RequestId") }
        set { odataEntity.setTypedValue(9, "RequestId", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var messageId: PropertyPath<Int64> { PropertyPath<Int64>(self, "MessageId") }
        var operation: PropertyPath<String> { PropertyPath<String>(self, "Operation") }
        var timestamp: PropertyPath<ODataDateTimeOffset> { PropertyPath<ODataDateTimeOffset>(self, "Timestamp") }
        var component: PropertyPath<String> { PropertyPath<String>(self, "Component") }
        var entityKey: PropertyPath<String> { PropertyPath<String>(self, "EntityKey") }
        var message: PropertyPath<String> { PropertyPath<String>(self, "Message") }
        var level: PropertyPath<String> { PropertyPath<String>(self, "Level") }
        var code: PropertyPath<Int32> { PropertyPath<Int32>(self, "Code") }
        var eisCode: PropertyPath<String> { PropertyPath<String>(self, "EisCode") }
        var requestId: PropertyPath<String> { PropertyPath<String>(self, "RequestId") }
    }
}

extension ObjectSet where Element == LogRecord {
    /// The object with a key; `nil` if there is none.
    func find(_ messageId: Int64) async throws -> LogRecord? {
        try await find(parts: [QueryArgument("MessageId", messageId)])
    }

    /// The object with a key.
    func load(_ messageId: Int64) async throws -> LogRecord {
        try await load(parts: [QueryArgument("MessageId", messageId)])
    }
}

/// `Desk.Note`.
struct Note: Creatable, Updatable, Deletable {
    typealias Package = Desk
    typealias InitialValues = RequiredInitialValues
    static let typeName: QualifiedName = QualifiedName("Desk", "Note")
    static let objectType: ObjectType<Desk> = ObjectType(number: 530553902, entitySet: "Notes")
    static let requiredAttributes: [String] = []
    static var odataMetadata: GeneratedMetadata { DeskMetadata.metadata }
    static let odataShape: TypeShape = DeskMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// Makes an object of `Desk.Note` that is not in the database yet.
    init() {
        odataEntity = ODataEntity(shape: Self.odataShape)
    }

    /// `ID`, Edm.Int64, not null, given by the service.
    var id: Int64? { odataEntity.typedValue(0, "ID") }

    /// `Owner`, Edm.String, at most 20.
    var owner: String? {
        get { odataEntity.typedValue(1, "Owner") }
        set { odataEntity.setTypedValue(1, "Owner", newValue) }
    }

    /// `Text`, Edm.String, at most 80.
    var text: String? {
        get { odataEntity.typedValue(2, "Text") }
        set { odataEntity.setTypedValue(2, "Text", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var id: PropertyPath<Int64> { PropertyPath<Int64>(self, "ID") }
        var owner: PropertyPath<String> { PropertyPath<String>(self, "Owner") }
        var text: PropertyPath<String> { PropertyPath<String>(self, "Text") }
    }
}

extension ObjectSet where Element == Note {
    /// The object with a key; `nil` if there is none.
    func find(_ id: Int64) async throws -> Note? {
        try await find(parts: [QueryArgument("ID", id)])
    }

    /// The object with a key.
    func load(_ id: Int64) async throws -> Note {
        try await load(parts: [QueryArgument("ID", id)])
    }
}

/// The rows of `Notes` that are synchronized: those with certain values.
struct NoteSubscription: SubscriptionParameters {
    typealias Package = Desk
    static let entitySet: String = "Notes"

    /// `owner`, Edm.String; `nil` follows the personalization key `Owner`.
    var owner: String?

    init(owner: String? = nil) {
        self.owner = owner
    }

    var arguments: [SubscriptionArgument] { [SubscriptionArgument("owner", owner)] }
}

/// `Desk.Part`.
struct Part: Creatable, Updatable, Deletable {
    typealias Package = Desk
    typealias InitialValues = RequiredInitialValues
    static let typeName: QualifiedName = QualifiedName("Desk", "Part")
    static let objectType: ObjectType<Desk> = ObjectType(number: 119934979, entitySet: "Parts")
    static let requiredAttributes: [String] = []
    static var odataMetadata: GeneratedMetadata { DeskMetadata.metadata }
    static let odataShape: TypeShape = DeskMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// Makes an object of `Desk.Part` that is not in the database yet.
    init() {
        odataEntity = ODataEntity(shape: Self.odataShape)
    }

    /// `ID`, Edm.Int64, not null, given by the service.
    var id: Int64? { odataEntity.typedValue(0, "ID") }

    /// `Kind`, Edm.Int32.
    var kind: Int32? {
        get { odataEntity.typedValue(1, "Kind") }
        set { odataEntity.setTypedValue(1, "Kind", newValue) }
    }

    /// `Since`, Edm.Date.
    var since: ODataDate? {
        get { odataEntity.typedValue(2, "Since") }
        set { odataEntity.setTypedValue(2, "Since", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var id: PropertyPath<Int64> { PropertyPath<Int64>(self, "ID") }
        var kind: PropertyPath<Int32> { PropertyPath<Int32>(self, "Kind") }
        var since: PropertyPath<ODataDate> { PropertyPath<ODataDate>(self, "Since") }
    }
}

extension ObjectSet where Element == Part {
    /// The object with a key; `nil` if there is none.
    func find(_ id: Int64) async throws -> Part? {
        try await find(parts: [QueryArgument("ID", id)])
    }

    /// The object with a key.
    func load(_ id: Int64) async throws -> Part {
        try await load(parts: [QueryArgument("ID", id)])
    }
}

/// The rows of `Parts` that are synchronized: those with certain values.
struct PartSubscription: SubscriptionParameters {
    typealias Package = Desk
    static let entitySet: String = "Parts"

    /// `kind`, Edm.Int32.
    var kind: Int32

    /// `since`, Edm.Date; `nil` stands for `2020-01-01`.
    var since: ODataDate?

    init(kind: Int32, since: ODataDate? = nil) {
        self.kind = kind
        self.since = since
    }

    var arguments: [SubscriptionArgument] { [SubscriptionArgument("kind", kind), SubscriptionArgument("since", since)] }
}

/// `Desk.Pass`.
struct Pass: Creatable, Updatable, Deletable {
    typealias Package = Desk
    typealias InitialValues = RequiredInitialValues
    static let typeName: QualifiedName = QualifiedName("Desk", "Pass")
    static let objectType: ObjectType<Desk> = ObjectType(number: 69455027, entitySet: "Passes")
    static let requiredAttributes: [String] = []
    static var odataMetadata: GeneratedMetadata { DeskMetadata.metadata }
    static let odataShape: TypeShape = DeskMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// Makes an object of `Desk.Pass` that is not in the database yet.
    init() {
        odataEntity = ODataEntity(shape: Self.odataShape)
    }

    /// `ID`, Edm.Int64, not null, given by the service.
    var id: Int64? { odataEntity.typedValue(0, "ID") }

    /// `Code`, Edm.String, at most 40.
    var code: String? {
        get { odataEntity.typedValue(1, "Code") }
        set { odataEntity.setTypedValue(1, "Code", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var id: PropertyPath<Int64> { PropertyPath<Int64>(self, "ID") }
        var code: PropertyPath<String> { PropertyPath<String>(self, "Code") }
    }
}

extension ObjectSet where Element == Pass {
    /// The object with a key; `nil` if there is none.
    func find(_ id: Int64) async throws -> Pass? {
        try await find(parts: [QueryArgument("ID", id)])
    }

    /// The object with a key.
    func load(_ id: Int64) async throws -> Pass {
        try await load(parts: [QueryArgument("ID", id)])
    }
}

/// The rows of `Passes` that are synchronized: those with certain values.
struct PassSubscription: SubscriptionParameters {
    typealias Package = Desk
    static let entitySet: String = "Passes"

    /// `code`, Edm.String; `nil` follows the personalization key `Token`.
    var code: String?

    init(code: String? = nil) {
        self.code = code
    }

    var arguments: [SubscriptionArgument] { [SubscriptionArgument("code", code)] }
}

/// `Desk.PersonalizationValue`.
struct PersonalizationValue: Creatable, Updatable, Deletable {
    typealias Package = Desk
    typealias InitialValues = RequiredInitialValues
    static let typeName: QualifiedName = QualifiedName("Desk", "PersonalizationValue")
    static let objectType: ObjectType<Desk> = ObjectType(number: 1690778035, entitySet: "PersonalizationValues")
    static let requiredAttributes: [String] = ["Key"]
    static var odataMetadata: GeneratedMetadata { DeskMetadata.metadata }
    static let odataShape: TypeShape = DeskMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// Makes an object of `Desk.PersonalizationValue` that is not in the database yet.
    init(key: String) {
        odataEntity = ODataEntity(shape: Self.odataShape)
        self.key = key
    }

    /// `Key`, Edm.String, not null, at most 40.
    var key: String {
        get { odataEntity.requiredValue(0, "Key", or: "") }
        set { odataEntity.setTypedValue(0, "Key", newValue) }
    }

    /// `Value`, Edm.String, at most 200.
    var value: String? {
        get { odataEntity.typedValue(1, "Value") }
        set { odataEntity.setTypedValue(1, "Value", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var key: PropertyPath<String> { PropertyPath<String>(self, "Key") }
        var value: PropertyPath<String> { PropertyPath<String>(self, "Value") }
    }
}

extension ObjectSet where Element == PersonalizationValue {
    /// The object with a key; `nil` if there is none.
    func find(_ key: String) async throws -> PersonalizationValue? {
        try await find(parts: [QueryArgument("Key", key)])
    }

    /// The object with a key.
    func load(_ key: String) async throws -> PersonalizationValue {
        try await load(parts: [QueryArgument("Key", key)])
    }
}

/// `Desk.Ticket`.
struct Ticket: Creatable, Updatable, Deletable {
    typealias Package = Desk
    typealias InitialValues = RequiredInitialValues
    static let typeName: QualifiedName = QualifiedName("Desk", "Ticket")
    static let objectType: ObjectType<Desk> = ObjectType(number: 665255638, entitySet: "Tickets")
    static let requiredAttributes: [String] = ["Title", "Area"]
    static var odataMetadata: GeneratedMetadata { DeskMetadata.metadata }
    static let odataShape: TypeShape = DeskMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// Makes an object of `Desk.Ticket` that is not in the database yet.
    init(title: String, area: String) {
        odataEntity = ODataEntity(shape: Self.odataShape)
        self.title = title
        self.area = area
    }

    /// `ID`, Edm.Int64, not null, given by the service.
    var id: Int64? { odataEntity.typedValue(0, "ID") }

    /// `Title`, Edm.String, not null, at most 40.
    var title: String {
        get { odataEntity.requiredValue(1, "Title", or: "") }
        set { odataEntity.setTypedValue(1, "Title", newValue) }
    }

    /// `Area`, Edm.String, not null, at most 20.
    var area: String {
        get { odataEntity.requiredValue(2, "Area", or: "") }
        set { odataEntity.setTypedValue(2, "Area", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var id: PropertyPath<Int64> { PropertyPath<Int64>(self, "ID") }
        var title: PropertyPath<String> { PropertyPath<String>(self, "Title") }
        var area: PropertyPath<String> { PropertyPath<String>(self, "Area") }
    }
}

extension ObjectSet where Element == Ticket {
    /// The object with a key; `nil` if there is none.
    func find(_ id: Int64) async throws -> Ticket? {
        try await find(parts: [QueryArgument("ID", id)])
    }

    /// The object with a key.
    func load(_ id: Int64) async throws -> Ticket {
        try await load(parts: [QueryArgument("ID", id)])
    }
}

/// The rows of `Tickets` that are synchronized: those with certain values.
struct TicketSubscription: SubscriptionParameters {
    typealias Package = Desk
    static let entitySet: String = "Tickets"

    /// `area`, Edm.String; `nil` follows the personalization key `Area`.
    var area: String?

    init(area: String? = nil) {
        self.area = area
    }

    var arguments: [SubscriptionArgument] { [SubscriptionArgument("area", area)] }
}
