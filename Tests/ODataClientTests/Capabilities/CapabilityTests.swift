import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Testing

/// Requests that the service does not support are refused before they are sent, or rewritten (OData Protocol
/// 4.01, 13.3 (20)).
@Suite struct CapabilityTests {
    private static let orders = "{\"@odata.context\":\"$metadata#Orders\",\"value\":[{\"ID\":1},{\"ID\":2},{\"ID\":3}]}"

    private func script(_ annotations: String, version: String = "4.0") -> WireScript {
        WireScript(metadata: ShopMetadata.v4(version, sets: annotations)) { _, _ in .json(Self.orders) }
    }

    private static func record(_ term: String, _ properties: String) -> String {
        "<Annotation Term=\"Org.OData.Capabilities.V1.\(term)\"><Record>\(properties)</Record></Annotation>"
    }

    private static func paths(_ name: String, _ path: String, _ kind: String = "PropertyPath") -> String {
        "<PropertyValue Property=\"\(name)\"><Collection><\(kind)>\(path)</\(kind)></Collection></PropertyValue>"
    }

    private static let refusals: [(String, ResourceQuery, String, String?)] = [
        (
            record("FilterRestrictions", "<PropertyValue Property=\"Filterable\" Bool=\"false\"/>"),
            ResourceQuery("Orders").filter(.property("ID") == 1), "$filter", nil
        ),
        (
            record("FilterRestrictions", "<PropertyValue Property=\"RequiresFilter\" Bool=\"true\"/>"),
            ResourceQuery("Orders"),
            "reading without $filter", nil
        ),
        (
            record("FilterRestrictions", paths("NonFilterableProperties", "City")),
            ResourceQuery("Orders").filter(.property("City") == "x"), "$filter", "City"
        ),
        (
            record("FilterRestrictions", paths("RequiredProperties", "City")),
            ResourceQuery("Orders").filter(.property("ID") == 1), "$filter without it", "City"
        ),
        (
            record("SortRestrictions", "<PropertyValue Property=\"Sortable\" Bool=\"false\"/>"),
            ResourceQuery("Orders").orderBy("ID"), "$orderby", nil
        ),
        (
            record("SortRestrictions", paths("NonSortableProperties", "City")), ResourceQuery("Orders").orderBy("City"),
            "$orderby", "City"
        ),
        (
            record("SortRestrictions", paths("AscendingOnlyProperties", "City")),
            ResourceQuery("Orders").orderBy("City", descending: true), "$orderby desc", "City"
        ),
        (
            record("ExpandRestrictions", "<PropertyValue Property=\"Expandable\" Bool=\"false\"/>"),
            ResourceQuery("Orders").expand("Items"), "$expand", nil
        ),
        (
            record("ExpandRestrictions", paths("NonExpandableProperties", "Items", "NavigationPropertyPath")),
            ResourceQuery("Orders").expand("Items"), "$expand", "Items"
        ),
        (
            record("ExpandRestrictions", "<PropertyValue Property=\"MaxLevels\" Int=\"1\"/>"),
            ResourceQuery("Orders").expand("Parent", { $0.expand("Items") }), "$expand over 1 levels", "Parent"
        ),
        (
            record("CountRestrictions", "<PropertyValue Property=\"Countable\" Bool=\"false\"/>"),
            ResourceQuery("Orders").count(), "$count", nil
        ),
        (
            record("SearchRestrictions", "<PropertyValue Property=\"Searchable\" Bool=\"false\"/>"),
            ResourceQuery("Orders").search(.word("x")), "$search", nil
        ),
        (
            "<Annotation Term=\"Org.OData.Capabilities.V1.SkipSupported\" Bool=\"false\"/>",
            ResourceQuery("Orders").skip(1),
            "$skip", nil
        ),
        (
            "<Annotation Term=\"Org.OData.Capabilities.V1.FilterFunctions\"><Collection><String>startswith</String>"
                + "</Collection></Annotation>", ResourceQuery("Orders").filter(.property("City").contains("x")),
            "$filter",
            "contains()"
        ),
        (
            "<Annotation Term=\"Org.OData.Capabilities.V1.FilterFunctions\"><Collection><String>startswith</String>"
                + "</Collection></Annotation>",
            ResourceQuery("Orders").filter(.property("Items").any("i") { _ in .property("i/Name").contains("x") }),
            "$filter",
            "contains()"
        ),
    ]

    @Test(arguments: refusals.indices)
    func `a query that the metadata excludes is refused before it is sent`(index: Int) async throws {
        let (annotations, query, feature, property) = Self.refusals[index]
        let transport = script(annotations)
        let error = await #expect(throws: CapabilityError.self) { _ = try await transport.service().page(query) }
        #expect(error?.feature == feature)
        #expect(error?.property == property)
        #expect(error?.set == "Orders")
        #expect(transport.sent.isEmpty)
        // With the policy `ignore`, the request is sent anyway.
        _ = try await transport.service(.init(capabilities: .ignore)).page(query)
        #expect(transport.sent.count == 1)
        // Without the annotation, the request is not refused.
        _ = try await script("").service().page(query)
    }

    @Test func `changes that the metadata excludes are refused before they are sent`() async throws {
        func refused(
            _ annotations: String, _ change: (DataService, ODataEntity) async throws -> Void
        ) async throws -> CapabilityError? {
            let transport = script(annotations)
            let client = try transport.client()
            let order = try await ShopMetadata.entity(["ID": 1, "City": "Graz"], of: client)
            let error = await #expect(throws: CapabilityError.self) { try await change(DataService(client), order) }
            #expect(transport.sent.isEmpty)
            return error
        }
        let no = "Bool=\"false\"/>"
        #expect(
            try await refused(Self.record("InsertRestrictions", "<PropertyValue Property=\"Insertable\" \(no)")) {
                try await $0.create($1, in: "Orders")
            }?.feature == "insert")
        #expect(
            try await refused(Self.record("UpdateRestrictions", "<PropertyValue Property=\"Updatable\" \(no)")) {
                try await $0.update($1, in: "Orders")
            }?.feature == "update")
        #expect(
            try await refused(Self.record("DeleteRestrictions", "<PropertyValue Property=\"Deletable\" \(no)")) {
                try await $0.delete($1, in: "Orders")
            }?.feature == "delete")
        #expect(
            try await refused(Self.record("UpdateRestrictions", Self.paths("NonUpdatableProperties", "City"))) {
                try await $0.update($1, in: "Orders")
            }?.property == "City")
        #expect(
            try await refused(Self.record("DeepInsertSupport", "<PropertyValue Property=\"Supported\" \(no)")) {
                var order = $1
                order.related["Parent"] = .one($1)
                try await $0.create(order, in: "Orders")
            }?.feature == "deep insert")
    }

    @Test func `a $top that is not supported is done by the client`() async throws {
        let transport = script("<Annotation Term=\"Org.OData.Capabilities.V1.TopSupported\" Bool=\"false\"/>")
        let orders = try await transport.service().entities(ResourceQuery("Orders").top(2))
        #expect(orders.map { $0["ID"] } == [1, 2])
        #expect(transport.sent.map(\.line) == ["GET /shop/Orders"])
    }

    @Test func `a $top that is not supported takes no more pages than it needs, and none after them`() async throws {
        @Sendable func page(_ ids: String, _ next: String) -> WireScript.Answer {
            .json("{\"@odata.context\":\"$metadata#Orders\",\"value\":[\(ids)]\(next)}")
        }
        let transport = WireScript(
            metadata: ShopMetadata.v4(
                sets: "<Annotation Term=\"Org.OData.Capabilities.V1.TopSupported\" Bool=\"false\"/>")
        ) { sent, _ in
            switch sent.line {
            case "GET /shop/Orders", "GET /shop/Orders?$select=ID":
                page("{\"ID\":1},{\"ID\":2}", ",\"@odata.nextLink\":\"Orders?$skiptoken=2\"")
            case "GET /shop/Orders?$skiptoken=2":
                page("{\"ID\":3},{\"ID\":4}", ",\"@odata.nextLink\":\"Orders?$skiptoken=4\"")
            case "GET /shop/Orders?$skiptoken=4": page("{\"ID\":5}", "")
            default: .empty()
            }
        }
        let service = try transport.service()
        let rows = try await service.entities(ResourceQuery("Orders").top(3))
        #expect(rows.map { $0["ID"] } == [1, 2, 3])
        #expect(transport.sent.count == 2, "the third page is not needed")
        #expect(try await service.entities(ResourceQuery("Orders").top(9)).count == 5)
        #expect(try await service.delete(matching: ResourceQuery("Orders").top(3)) == 3)
        #expect(
            transport.sent.filter { $0.message.method == .delete }.map(\.line) == [
                "DELETE /shop/Orders(1)", "DELETE /shop/Orders(2)", "DELETE /shop/Orders(3)",
            ])
    }

    @Test(.timeLimit(.minutes(1)))
    func `a $top that is not supported ends where the pages lead in a circle`() async throws {
        let transport = WireScript(
            metadata: ShopMetadata.v4(
                sets: "<Annotation Term=\"Org.OData.Capabilities.V1.TopSupported\" Bool=\"false\"/>")
        ) { _, _ in
            .json(
                "{\"@odata.context\":\"$metadata#Orders\",\"value\":[],"
                    + "\"@odata.nextLink\":\"Orders?$skiptoken=1\"}")
        }
        let error = await #expect(throws: ODataError.self) {
            try await transport.service().entities(ResourceQuery("Orders").top(5))
        }
        #expect(error?.status == 502)
        #expect(transport.sent.count == 2)
    }

    @Test func `a $select that is not supported is left out, since everything contains it`() async throws {
        let transport = script(Self.record("SelectSupport", "<PropertyValue Property=\"Supported\" Bool=\"false\"/>"))
        _ = try await transport.service().entities(ResourceQuery("Orders").select("ID"))
        #expect(transport.sent.map(\.line) == ["GET /shop/Orders"])
    }

    @Test("in is new in 4.01: a service of 4.0 gets a chain of comparisons")
    func membership() async throws {
        let query = ResourceQuery(try ODataURL(parsing: "Orders?$filter=not (City in ('a','b')) and ID eq 1"))
        let older = script("")
        _ = try await older.service().entities(query)
        #expect(
            older.sent[0].line.removingPercentEncoding
                == "GET /shop/Orders?$filter=not (City eq 'a' or City eq 'b') and ID eq 1",
            "\(older.sent[0].line)")
        let newer = script("", version: "4.01")
        _ = try await newer.service().entities(query)
        #expect(newer.sent[0].line.removingPercentEncoding?.contains("City in ('a','b')") == true)
    }

    @Test(
        "A service of 4.0 gets a chain of comparisons wherever in stands",
        arguments: [
            ("$filter=Items/any(i:i/ID in (1,2))", "$filter=Items/any(i:i/ID eq 1 or i/ID eq 2)"),
            ("$filter=Items/$count($filter=ID in (1,2)) gt 0", "Items/$count($filter=ID eq 1 or ID eq 2) gt 0"),
            ("$filter=(ID in (1,2)) in (true)", "(ID eq 1 or ID eq 2) eq true"),
            ("$filter=cast(ID in (1,2),Edm.String) eq 'true'", "cast(ID eq 1 or ID eq 2,Edm.String)"),
            ("$orderby=ID in (1,2) desc", "$orderby=ID eq 1 or ID eq 2 desc"),
            ("$expand=Items($filter=ID in (1,2))", "$expand=Items($filter=ID eq 1 or ID eq 2)"),
        ])
    func membershipEverywhere(options: String, expected: String) async throws {
        let older = script("")
        _ = try await older.service().entities(ResourceQuery(try ODataURL(parsing: "Orders?" + options)))
        let line = older.sent[0].line.removingPercentEncoding ?? ""
        #expect(line.contains(expected) && !line.contains(" in "), "\(line)")
    }

    @Test func `an app can read the capabilities of a set`() async throws {
        let annotations =
            Self.record("InsertRestrictions", "<PropertyValue Property=\"Insertable\" Bool=\"false\"/>")
            + Self.record("UpdateRestrictions", "<PropertyValue Property=\"Upsertable\" Bool=\"true\"/>")
        let capabilities = try await script(annotations).client().capabilities
        #expect(!capabilities.set("Orders").isInsertable)
        #expect(capabilities.set("Orders").isDeletable)
        #expect(capabilities.set("Orders").isUpsertable == true)
        #expect(capabilities.set("Items").isInsertable)
        #expect(capabilities.supportsBatch)
    }

    @Test("sap: attributes mean the same in V2")
    func sap() async throws {
        let metadata = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
            xmlns:sap="http://www.sap.com/Protocols/SAPData"><edmx:DataServices m:DataServiceVersion="2.0">
            <Schema Namespace="Shop" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
            <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="City" Type="Edm.String" sap:filterable="false" sap:sortable="false" sap:updatable="false"/>
            </EntityType><EntityContainer Name="C" m:IsDefaultEntityContainer="true">
            <EntitySet Name="Orders" EntityType="Shop.Order" sap:creatable="false" sap:searchable="true"
            sap:pageable="false" sap:countable="false" sap:addressable="true"/></EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        let transport = WireScript(metadata: metadata) { _, _ in .json("{\"d\":{\"results\":[]}}") }
        let client = try transport.client()
        let service = DataService(client)
        for query in [
            ResourceQuery("Orders").filter(.property("City") == "x"), ResourceQuery("Orders").orderBy("City"),
            ResourceQuery("Orders").skip(1),
            ResourceQuery("Orders").count(),
        ] {
            await #expect(throws: CapabilityError.self, "\(query)") { _ = try await service.page(query) }
        }
        let order = try await ShopMetadata.entity(["ID": 1, "City": "x"], of: client)
        await #expect(throws: CapabilityError.self) { try await service.create(order, in: "Orders") }
        await #expect(throws: CapabilityError.self) { try await service.update(order, in: "Orders") }
        #expect(transport.sent.isEmpty)
        // A searchable set is searched with the query option of SAP.
        _ = try await service.page(ResourceQuery("Orders").search(.word("red")))
        #expect(transport.sent.map(\.line) == ["GET /shop/Orders?search=red"])
    }
}
