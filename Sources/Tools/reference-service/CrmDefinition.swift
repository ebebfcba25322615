import ODataModel
import ODataService
import ODataStore

/// The service of the object package `Crm`: customers with their orders.
enum CrmDefinition {
    /// - Throws: An error if the model and the operation contradict each other.
    static func make() throws -> ServiceDefinition {
        var definition = ServiceDefinition(model: try CSDLReader.read(xml: PackageResources.crm_xml))
        definition.givesETagsToAll = true
        try definition.action(
            "ChangeLastName", on: .entity(QualifiedName("Crm", "Customer")),
            parameters: [.init("OldName", .primitive(.string)), .init("NewName", .primitive(.string))]
        ) { call in
            let (old, new): (String, String) = (try call.argument("OldName"), try call.argument("NewName"))
            let customer = try call.boundEntity()
            guard customer["LastName"] == .string(old) else {
                throw ODataError(
                    status: 409, code: "OtherName", message: "The last name is not \(old).", target: "OldName")
            }
            _ = try call.transaction.update(customer, ["LastName": .string(new)])
            return .none
        }
        return definition
    }

    /// Opens the service in memory with its initial rows.
    static func open() async throws -> StoreService {
        let service = try await StoreService.open(make(), at: .memory)
        try await service.seed(json: Array(rows.utf8))
        return service
    }

    private static let rows = """
        {"Customers": [
            {"FirstName": "Ann", "LastName": "Smith", "City": "Dublin", "Region": "West"},
            {"FirstName": "Bob", "LastName": "Jones", "City": "Cork", "Region": "West"},
            {"FirstName": "Cid", "LastName": "Byrne", "City": "Galway", "Region": "North"}
        ], "SalesOrders": [
            {"CustomerID": 1, "Amount": 12.50}, {"CustomerID": 1, "Amount": 7.25}, {"CustomerID": 2, "Amount": 40},
            {"CustomerID": 3, "Amount": 99}
        ]}
        """
}
