// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ObjectAPI
import ODataModel
import ODataQuery
import ODataService

/// `Crm.Customer`.
struct Customer: Creatable, Updatable, Deletable {
    typealias Package = Crm
    typealias InitialValues = RequiredInitialValues
    static let typeName: QualifiedName = QualifiedName("Crm", "Customer")
    static let objectType: ObjectType<Crm> = ObjectType(number: 1, entitySet: "Customers")
    static let requiredAttributes: [String] = ["LastName", "Region"]
    static var odataMetadata: GeneratedMetadata { CrmMetadata.metadata }
    static let odataShape: TypeShape = CrmMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// Makes an object of `Crm.Customer` that is not in the database yet.
    init(lastName: String, region: String) {
        odataEntity = ODataEntity(shape: Self.odataShape)
        self.lastName = lastName
        self.region = region
    }

    /// `ID`, Edm.Int64, not null, given by the service.
    var id: Int64? { odataEntity.typedValue(0, "ID") }

    /// `FirstName`, Edm.String, at most 40.
    var firstName: String? {
        get { odataEntity.typedValue(1, "FirstName") }
        set { odataEntity.setTypedValue(1, "FirstName", newValue) }
    }

    /// `LastName`, Edm.String, not null, at most 40.
    var lastName: String {
        get { odataEntity.requiredValue(2, "LastName", or: "") }
        set { odataEntity.setTypedValue(2, "LastName", newValue) }
    }

    /// `City`, Edm.String, at most 60.
    var city: String? {
        get { odataEntity.typedValue(3, "City") }
        set { odataEntity.setTypedValue(3, "City", newValue) }
    }

    /// `Region`, Edm.String, not null, at most 20.
    var region: String {
        get { odataEntity.requiredValue(4, "Region", or: "") }
        set { odataEntity.setTypedValue(4, "Region", newValue) }
    }

    /// `SalesOrders`, parts of the object, if it was expanded.
    var salesOrders: [SalesOrder]? {
        get { odataEntity.typedRelatedCollection("SalesOrders") }
        set { odataEntity.setTypedRelatedCollection("SalesOrders", newValue) }
    }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var id: PropertyPath<Int64> { PropertyPath<Int64>(self, "ID") }
        var firstName: PropertyPath<String> { PropertyPath<String>(self, "FirstName") }
        var lastName: PropertyPath<String> { PropertyPath<String>(self, "LastName") }
        var city: PropertyPath<String> { PropertyPath<String>(self, "City") }
        var region: PropertyPath<String> { PropertyPath<String>(self, "Region") }
        var photo: StreamPath { StreamPath(self, "Photo") }
        var salesOrders: NavigationCollectionPath<SalesOrder> { NavigationCollectionPath<SalesOrder>(self, "SalesOrders") }
    }

    /// `Crm.ChangeLastName`: an operation of an object.
    struct ChangeLastName: ObjectOperation {
        typealias Package = Crm
        static let operationName: QualifiedName = QualifiedName("Crm", "ChangeLastName")
        var target: ObjectReference?

        /// `OldName`, Edm.String, not null.
        var oldName: String

        /// `NewName`, Edm.String, not null.
        var newName: String

        init(of object: Customer, oldName: String, newName: String) {
            target = ObjectReference(object)
            self.oldName = oldName
            self.newName = newName
        }

        func write(to parameters: inout OperationParameters) {
            parameters.set("OldName", self.oldName)
            parameters.set("NewName", self.newName)
        }
    }
}

extension ObjectSet where Element == Customer {
    /// The object with a key; `nil` if there is none.
    func find(_ id: Int64) async throws -> Customer? {
        try await find(parts: [QueryArgument("ID", id)])
    }

    /// The object with a key.
    func load(_ id: Int64) async throws -> Customer {
        try await load(parts: [QueryArgument("ID", id)])
    }

    /// The object query `findByCity`.
    func findByCity(city: String) -> ObjectSet<Customer> {
        query("$filter=City eq @city&$orderby=LastName", [QueryArgument("city", city)])
    }
}

/// The rows of `Customers` that are synchronized: those with certain values.
struct CustomerSubscription: SubscriptionParameters {
    typealias Package = Crm
    static let entitySet: String = "Customers"

    /// `region`, Edm.String; `nil` follows the personalization key `Territory`.
    var region: String?

    init(region: String? = nil) {
        self.region = region
    }

    var arguments: [SubscriptionArgument] { [SubscriptionArgument("region", region)] }
}

/// `Crm.SalesOrder`.
struct SalesOrder: Creatable, Updatable {
    typealias Package = Crm
    typealias InitialValues = RequiredInitialValues
    static let typeName: QualifiedName = QualifiedName("Crm", "SalesOrder")
    static let objectType: ObjectType<Crm> = ObjectType(number: 2, entitySet: "SalesOrders")
    static let requiredAttributes: [String] = ["Amount"]
    static var odataMetadata: GeneratedMetadata { CrmMetadata.metadata }
    static let odataShape: TypeShape = CrmMetadata.metadata.shape(typeName)
    var odataEntity: ODataEntity

    init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// Makes an object of `Crm.SalesOrder` that is not in the database yet.
    init(amount: ODataDecimal) {
        odataEntity = ODataEntity(shape: Self.odataShape)
        self.amount = amount
    }

    /// `ID`, Edm.Int64, not null, given by the service.
    var id: Int64? { odataEntity.typedValue(0, "ID") }

    /// `CustomerID`, Edm.Int64, set by the relation `Customer`.
    var customerID: Int64? { odataEntity.typedValue(1, "CustomerID") }

    /// `Amount`, Edm.Decimal, not null.
    var amount: ODataDecimal {
        get { odataEntity.requiredValue(2, "Amount", or: ODataDecimal(0)) }
        set { odataEntity.setTypedValue(2, "Amount", newValue) }
    }

    /// `OrderDate`, Edm.Date.
    var orderDate: ODataDate? {
        get { odataEntity.typedValue(3, "OrderDate") }
        set { odataEntity.setTypedValue(3, "OrderDate", newValue) }
    }

    /// `Customer`, if it was expanded.
    var customer: Customer? { odataEntity.typedRelated("Customer") }

    /// The properties by name, for queries.
    struct Paths: TypedPaths {
        var odataPath: String

        init(odataPath: String) {
            self.odataPath = odataPath
        }

        var id: PropertyPath<Int64> { PropertyPath<Int64>(self, "ID") }
        var customerID: PropertyPath<Int64> { PropertyPath<Int64>(self, "CustomerID") }
        var amount: PropertyPath<ODataDecimal> { PropertyPath<ODataDecimal>(self, "Amount") }
        var orderDate: PropertyPath<ODataDate> { PropertyPath<ODataDate>(self, "OrderDate") }
        var customer: NavigationEntityPath<Customer> { NavigationEntityPath<Customer>(self, "Customer") }
    }
}

extension ObjectSet where Element == SalesOrder {
    /// The object with a key; `nil` if there is none.
    func find(_ id: Int64) async throws -> SalesOrder? {
        try await find(parts: [QueryArgument("ID", id)])
    }

    /// The object with a key.
    func load(_ id: Int64) async throws -> SalesOrder {
        try await load(parts: [QueryArgument("ID", id)])
    }
}
