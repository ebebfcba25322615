import Foundation
import ODataClient
import ODataModel
import ODataQuery
import ODataService
import Testing

@Suite("The scope of messages")
struct MessageScopeTests {
    private static func metadata(_ container: String) -> String {
        ShopMetadata.v4().replacing("<Schema ", with: #"<Schema xmlns:sap="http://www.sap.com/Protocols/SAPData" "#)
            .replacing(#"<EntityContainer Name="C">"#, with: #"<EntityContainer Name="C" \#(container)>"#)
    }

    private static let field = "sap-message-scope"

    @Test(
        "is sent on request and only to services that support it",
        arguments: [
            (#"sap:message-scope-supported="true""#, MessageScope.businessObject, "BusinessObject"),
            (#"sap:message-scope-supported="true""#, .requestedObjects, "RequestedObjects"),
            (#"sap:message-scope-supported="true""#, nil, nil),
            (#"sap:message-scope-supported="false""#, .businessObject, nil), ("", .businessObject, nil),
        ] as [(String, MessageScope?, String?)])
    func support(container: String, scope: MessageScope?, expected: String?) async throws {
        let transport = WireScript(metadata: Self.metadata(container)) { _, _ in
            .json("{\"@odata.context\":\"$metadata#Orders\",\"value\":[]}")
        }
        _ = try await transport.service(.init(messageScope: scope)).page(ResourceQuery("Orders"))
        #expect(transport.sent.map { $0[Self.field] } == [expected])
    }

    @Test("is sent with each request of a batch, and a field from the app takes precedence")
    func batch() async throws {
        let transport = WireScript(metadata: Self.metadata(#"sap:message-scope-supported="true""#)) { _, _ in
            .refusal(500)
        }
        let items = try ["Orders(1)", "Orders(2)"].map {
            BatchItem(id: $0, request: ODataRequest(.read, try ODataURL(parsing: $0)))
        }
        let request = ODataRequest(.create, ODataURL(path: ResourcePath([.batch])), body: .batch(items))
        _ = try? await transport.client(.init(messageScope: .businessObject)).execute(request)
        let body = transport.sent.first?.body ?? ""
        #expect(body.components(separatedBy: "sap-message-scope: BusinessObject").count == 3, "\(body)")
        let own = WireScript(metadata: Self.metadata(#"sap:message-scope-supported="true""#)) { _, _ in
            .json("{\"@odata.context\":\"$metadata#Orders\",\"value\":[]}")
        }
        let headers = ["SAP-Message-Scope": "RequestedObjects"]
        _ = try await own.service(.init(headers: headers, messageScope: .businessObject)).page(ResourceQuery("Orders"))
        #expect(own.sent.map { $0[Self.field] } == ["RequestedObjects"])
    }
}
