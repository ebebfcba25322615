import ODataModel
import ODataService
import ObjectAPI
import Testing

@Suite("The metadata of a package")
struct PackageMetadataTests {
    @Test("describe the package, its groups, keys and types")
    func package() async throws {
        let crm = try await CrmService().database()
        let metadata = crm.metadata
        #expect(metadata.name == "Crm" && metadata.version == "1")
        #expect(metadata.groups.map(\.name) == ["sales"])
        #expect(metadata.personalizationKeys.map(\.name) == ["Territory"])
        #expect(metadata.entities.map(\.name.name) == ["Customer", "SalesOrder"])
        let customer = try #require(metadata.entity("Customer"))
        #expect(customer.number == Customer.objectType.number && customer.entitySet == "Customers")
        #expect(metadata.entity("Crm.Customer") == customer && metadata.entity("customer") == nil)
        #expect(customer.queries.map(\.name) == ["findByCity"])
        #expect(customer.relations.map(\.name) == ["SalesOrders"])
        #expect(customer.relations.first?.isComposite == true && customer.relations.first?.isCollection == true)
    }

    @Test("describe attributes with the columns of the table")
    func attributes() async throws {
        let crm = try await CrmService().synchronized()
        let customer = try #require(crm.metadata.entity("Customer"))
        #expect(customer.attributes.map(\.name) == ["ID", "FirstName", "LastName", "City", "Region", "Photo"])
        let name = try #require(customer.attribute("LastName"))
        #expect(name.type == .primitive(.string) && name.maxLength == 40 && !name.isNullable && !name.isLarge)
        let id = try #require(customer.attribute("ID"))
        #expect(id.isKey && id.isGiven)
        let photo = try #require(customer.attribute("Photo"))
        #expect(photo.isLarge && photo.column == nil)
        #expect(customer.table?.isEmpty == false && name.column?.isEmpty == false)
    }

    @Test("describe operations with their roles and parameters, and the verbs of sets")
    func operations() async throws {
        let crm = try await CrmService().database().metadata
        let customer = try #require(crm.entity("Customer"))
        #expect(customer.operations.map(\.name) == ["ChangeLastName", "create", "delete", "update"])
        let rename = try #require(customer.operation("Crm.ChangeLastName"))
        #expect(rename.role == .other && rename.parameters.map(\.name) == ["OldName", "NewName"])
        #expect(rename.parameters.allSatisfy { !$0.isNullable && $0.attribute == nil })
        #expect(crm.entity("SalesOrder")?.operation("delete") == nil, "the service allows no deletion")
        let depot = try await DepotService().database().metadata
        let parcel = try #require(depot.entity("Parcel"))
        #expect(parcel.operations.map(\.name) == ["MoveParcel", "RegisterParcel", "ScrapParcel"])
        let register = try #require(parcel.operation("RegisterParcel"))
        #expect(register.role == .create)
        #expect(register.parameters.map(\.attribute) == ["Title", "Weight", nil])
        #expect(parcel.operation("ScrapParcel")?.parameters.last?.isOptional == true)
        #expect(depot.operations.map(\.name) == ["TakeStock"])
        #expect(depot.entity("Tool")?.isAbstract == true && depot.entity("Crane")?.base?.name == "Tool")
        #expect(depot.entity("Paper")?.allowsDynamicQueries == false)
    }
}
