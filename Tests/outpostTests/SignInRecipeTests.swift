import Foundation
import Testing

@testable import outpost

@Suite("The recipes for well-known services")
struct SignInRecipeTests {
    private func recipe(_ url: String) throws -> SignInRecipe? {
        let (root, origin) = try SignInPlan.service(url)
        return SignInRecipe(root, origin: origin)
    }

    @Test(
        "Microsoft services ask for access to themselves and for renewals",
        arguments: [
            "https://graph.microsoft.com/v1.0/", "https://contoso.crm4.dynamics.com/api/data/v9.2/",
            "https://api.businesscentral.dynamics.com/v2.0/production/api/v2.0/",
        ])
    func microsoft(url: String) throws {
        let found = try #require(try recipe(url))
        let host = try #require(URLComponents(string: url)?.host)
        #expect(found.issuer == "https://login.microsoftonline.com/organizations/v2.0")
        #expect(found.scopes == ["https://\(host)/.default", "offline_access"])
        #expect(found.redirectHost == "localhost")
    }

    @Test("An SAP system is its own authorization server, with the service name as scope")
    func sap() throws {
        let found = try #require(
            try recipe("https://s4.example:44300/sap/opu/odata/sap/API_SALES_ORDER_SRV;v=0001/"))
        #expect(found.server?.tokenEndpoint == "https://s4.example:44300/sap/bc/sec/oauth2/token")
        #expect(found.server?.authorizationEndpoint == "https://s4.example:44300/sap/bc/sec/oauth2/authorize")
        #expect(found.scopes == ["API_SALES_ORDER_SRV_0001"])
        #expect(try recipe("https://s4.example/sap/opu/odata4/sap/g/srvd/s/0001/")?.scopes == [])
    }

    @Test(
        "Hosts with similar names have no recipe",
        arguments: [
            "https://graph.microsoft.com.evil.example/", "https://dynamics.com.evil.example/",
            "https://evildynamics.com/", "https://service.example/",
        ])
    func lookalikes(url: String) throws { #expect(try recipe(url) == nil) }

    @Test(
        "A challenge names a Microsoft issuer only for a Microsoft host",
        arguments: [
            (
                "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/oauth2/authorize",
                "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0"
            ),
            (
                "https://login.microsoftonline.com/common/oauth2/authorize",
                "https://login.microsoftonline.com/organizations/v2.0"
            ),
            ("https://login.microsoftonline.com.evil.example/common/oauth2/authorize", nil),
            ("http://login.microsoftonline.com/common/oauth2/authorize", nil),
            ("https://u@login.microsoftonline.com/common/oauth2/authorize", nil),
            ("https://login.microsoftonline.com/a%20b/x", nil), ("https://login.microsoftonline.com/", nil), ("", nil),
        ] as [(String, String?)])
    func challenge(uri: String, issuer: String?) { #expect(SignInRecipe.entraIssuer(uri) == issuer) }
}
