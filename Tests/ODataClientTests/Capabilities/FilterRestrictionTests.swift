import ODataClient
import ODataModel
import ODataQuery
import ODataService
import Testing

@Suite("Filters are checked against the filter restrictions of the metadata")
struct FilterRestrictionTests {
    /// Metadata of V4 with a restriction of `City`, and of V2 with the equivalent SAP attribute, if there is
    /// one.
    private static func documents(_ type: FilterExpressionType) -> [(metadata: String, name: String)] {
        let record = """
            <Annotation Term="Org.OData.Capabilities.V1.FilterRestrictions"><Record>\
            <PropertyValue Property="FilterExpressionRestrictions"><Collection><Record>\
            <PropertyValue Property="Property" PropertyPath="City"/>\
            <PropertyValue Property="AllowedExpressions" String="\(type.rawValue)"/>\
            </Record></Collection></PropertyValue></Record></Annotation>
            """
        let newer = (ShopMetadata.v4(sets: record), "FilterExpressionRestrictions=\(type.rawValue)")
        let attributes: [FilterExpressionType: String] = [
            .singleValue: "single-value", .multiValue: "multi-value", .singleRange: "interval",
        ]
        guard let attribute = attributes[type] else { return [newer] }
        let older = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
            xmlns:sap="http://www.sap.com/Protocols/SAPData"><edmx:DataServices m:DataServiceVersion="2.0">
            <Schema Namespace="Shop" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
            <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="City" Type="Edm.String" sap:filter-restriction="\(attribute)"/>
            </EntityType><EntityContainer Name="C" m:IsDefaultEntityContainer="true">
            <EntitySet Name="Orders" EntityType="Shop.Order"/></EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        return [newer, (older, "sap:filter-restriction=\(attribute)")]
    }

    private static let values = ["City eq 'a'", "'a' eq City", "City eq null", "City eq 'a' and ID gt 1", "City eq @p"]
    private static let lists = [
        "City eq 'a' or City eq 'b'", "(City eq 'a' or City eq 'b' or 'c' eq City) and ID eq 1",
    ]
    private static let ranges = [
        "City ge 'a'", "City lt 'b'", "City ge 'a' and City lt 'b'", "'b' gt City and ID eq 3 and 'a' le City",
    ]
    private static let manyRanges = ["City lt 'b' or City ge 'x'", "(City ge 'a' and City lt 'b') or City eq 'z'"]
    private static let searches = ["startswith(City,'a')", "contains(City,'a') or endswith(City,'b')"]
    private static let never = [
        "City ne 'a'", "not (City eq 'a')", "City eq 'a' or ID eq 1", "tolower(City) eq 'a'", "City eq City",
        "length(City) eq 1", "City gt 'a' and City ge 'b'", "City eq 'a' and City eq 'b'",
        "startswith(City,'a') and ID eq 1 or ID eq 2",
    ]

    private static let cases: [(FilterExpressionType, allowed: [String], refused: [String])] = [
        (.singleValue, values, lists + ranges + manyRanges + searches),
        (.multiValue, values + lists, ranges + manyRanges + searches),
        (.singleRange, values + ranges, lists + manyRanges + searches),
        (.multiRange, values + lists + ranges + manyRanges, searches),
        (.searchExpression, searches, values + lists + ranges + manyRanges),
        (.multiRangeOrSearchExpression, values + lists + ranges + manyRanges + searches, []),
    ]

    @Test("in V4 and in V2", arguments: cases.indices)
    func filters(index: Int) async throws {
        let (type, allowed, refused) = Self.cases[index]
        for (metadata, name) in Self.documents(type) {
            let isOlder = metadata.contains("2008/09")
            let rows = isOlder ? "{\"d\":{\"results\":[]}}" : "{\"@odata.context\":\"$metadata#Orders\",\"value\":[]}"
            let transport = WireScript(metadata: metadata) { _, _ in .json(rows) }
            let service = try transport.service()
            // V2 does not support parameter aliases.
            for filter in allowed + ["ID ne 4"] where !isOlder || !filter.contains("@") {
                let url = try ODataURL(parsing: "Orders?$filter=\(filter)" + (filter.contains("@p") ? "&@p='a'" : ""))
                await #expect(throws: Never.self, "\(type) \(filter)") {
                    _ = try await service.page(ResourceQuery(url))
                }
            }
            let sent = transport.sent.count
            for filter in refused + Self.never {
                let url = try ODataURL(parsing: "Orders?$filter=\(filter)")
                let error = await #expect(throws: CapabilityError.self, "\(type) \(filter)") {
                    _ = try await service.page(ResourceQuery(url))
                }
                #expect(error?.property == "City" && error?.description.contains(name) == true, "\(error as Any)")
            }
            #expect(transport.sent.count == sent)
        }
    }

    @Test("a client that ignores capabilities sends forbidden filters")
    func ignored() async throws {
        let transport = WireScript(metadata: Self.documents(.singleValue)[0].metadata) { _, _ in
            .json("{\"@odata.context\":\"$metadata#Orders\",\"value\":[]}")
        }
        let query = ResourceQuery(try ODataURL(parsing: "Orders?$filter=City ne 'a'"))
        _ = try await transport.service(.init(capabilities: .ignore)).page(query)
        #expect(transport.sent.count == 1)
    }

    @Test("a page request asks for at most as many entities as the set announces (sap:maxpagesize)")
    func pageSize() async throws {
        let attribute = #"xmlns:sap="http://www.sap.com/Protocols/SAPData" sap:maxpagesize="50""#
        let metadata = ShopMetadata.v4().replacing(
            #"<EntitySet Name="Orders""#, with: #"<EntitySet \#(attribute) Name="Orders""#)
        let transport = WireScript(metadata: metadata) { _, _ in
            .json("{\"@odata.context\":\"$metadata#Orders\",\"value\":[]}")
        }
        let client = try transport.client()
        for (wanted, expected) in [(20, "20"), (50, "50"), (500, "50")] {
            let preferences = Preferences(maxPageSize: wanted)
            _ = try await client.execute(
                ODataRequest(.read, try ODataURL(parsing: "Orders"), preferences: preferences))
            #expect(transport.sent.last?["Prefer"]?.hasSuffix("maxpagesize=\(expected)") == true)
        }
    }
}
