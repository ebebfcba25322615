import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A change that the metadata forbid is refused at once")
struct RestrictionTests {
    private func older(_ property: String = "", set: String = "") async throws -> OfflineStore {
        let service = OddService(
            OddService.olderSchema(property, set: set), rows: [1: #"{"ID":1,"Name":"a","S":"s","Flag":false}"#])
        return try await service.clone()
    }

    @Test("A property that SAP attributes mark as computed cannot be changed")
    func serverProperty() async throws {
        let store = try await older(
            #"<Property Name="S" Type="Edm.String" sap:creatable="false" sap:updatable="false"/>"#)
        try await store.update("Items(1)", ["S": "mine", "Name": "new"])
        let request = try #require(try await store.observe.status().pending.first)
        #expect(request.changes["S"] == nil)
        #expect(request.changes["Name"] == "new")
    }

    @Test("A property that cannot be updated or created is refused")
    func restrictedProperty() async throws {
        let fixed = try await older(#"<Property Name="S" Type="Edm.String" sap:updatable="false"/>"#)
        await #expect(throws: ODataError.self) { try await fixed.update("Items(1)", ["S": "mine"]) }
        let late = try await older(#"<Property Name="S" Type="Edm.String" sap:creatable="false"/>"#)
        await #expect(throws: ODataError.self) { try await late.create("Items", ["ID": 2, "S": "mine"]) }
        #expect(try await late.observe.status().pending.isEmpty)
    }

    @Test("The attributes of a set forbid changes", arguments: ["creatable", "updatable", "deletable"])
    func set(_ attribute: String) async throws {
        let store = try await older(set: #"sap:\#(attribute)="false""#)
        await #expect(throws: ODataError.self) {
            switch attribute {
            case "creatable": try await store.create("Items", ["ID": 2])
            case "updatable": try await store.update("Items(1)", ["Name": "new"])
            default: _ = try await store.execute(ODataRequest(.delete, try ODataURL(parsing: "Items(1)")))
            }
        }
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test("The flags of an entity forbid changes", arguments: ["updatable-path", "deletable-path"])
    func flag(_ attribute: String) async throws {
        let store = try await older(
            #"<Property Name="Flag" Type="Edm.Boolean"/>"#, set: #"sap:\#(attribute)="Flag""#)
        await #expect(throws: ODataError.self) {
            if attribute == "updatable-path" {
                try await store.update("Items(1)", ["Name": "new"])
            } else {
                _ = try await store.execute(ODataRequest(.delete, try ODataURL(parsing: "Items(1)")))
            }
        }
    }

    @Test("A value that does not match the pattern of its property is refused", arguments: [true, false])
    func pattern(isOlder: Bool) async throws {
        let annotation = #"<Annotation Term="Org.OData.Validation.V1.Pattern" String="^[A-Z]{2}[0-9]+$"/>"#
        let name = #"<Property Name="Code" Type="Edm.String""#
        let service =
            isOlder
            ? OddService(OddService.olderSchema(name + #" sap:validation-regexp="^[A-Z]{2}[0-9]+$"/>"#))
            : OddService(OddService.schema(name + ">" + annotation + "</Property>"))
        service.rows = [1: #"{"ID":1,"Name":"a","Code":"from the service"}"#]
        let store = try await service.clone()
        for value in ["ab1", "AB", "AB1x", "", " AB1"] as [ODataValue] {
            let error = await #expect(throws: ODataError.self, "\(value)") {
                try await store.update("Items(1)", ["Code": value])
            }
            #expect(error?.target == "Code" && error?.message.contains("^[A-Z]{2}[0-9]+$") == true)
            await #expect(throws: ODataError.self, "\(value)") {
                try await store.create("Items", ["ID": 2, "Code": value])
            }
        }
        #expect(try await store.observe.status().pending.isEmpty)
        // Null is not checked against the pattern, and values of the service are accepted.
        try await store.update("Items(1)", ["Name": "new"])
        try await store.update("Items(1)", ["Code": .null])
        try await store.update("Items(1)", ["Code": "AB12"])
        try await store.create("Items", ["ID": 2, "Code": "XY1"])
    }

    @Test(
        "A pattern that cannot be matched in bounded time is left to the service", arguments: ["(a)\\1", "(?=a)b", "["])
    func unsupportedPattern(_ pattern: String) async throws {
        let store = try await older(#"<Property Name="Code" Type="Edm.String" sap:validation-regexp="\#(pattern)"/>"#)
        try await store.update("Items(1)", ["Code": "anything"])
    }

    @Test("NonUpdatableProperties and NonInsertableProperties are respected")
    func capabilities() async throws {
        func restriction(_ term: String, _ list: String) -> String {
            """
            <Annotation Term="Org.OData.Capabilities.V1.\(term)"><Record><PropertyValue Property="\(list)"><Collection>\
            <PropertyPath>Name</PropertyPath></Collection></PropertyValue></Record></Annotation>
            """
        }
        let fixed = try await OddService(
            OddService.schema(annotations: restriction("UpdateRestrictions", "NonUpdatableProperties"))
        ).clone()
        await #expect(throws: ODataError.self) { try await fixed.update("Items(1)", ["Name": "new"]) }
        // Setting the same value is not a change.
        try await fixed.update("Items(1)", ["Name": "a"])
        let late = try await OddService(
            OddService.schema(annotations: restriction("InsertRestrictions", "NonInsertableProperties"))
        ).clone()
        await #expect(throws: ODataError.self) { try await late.create("Items", ["ID": 2, "Name": "x"]) }
    }
}
