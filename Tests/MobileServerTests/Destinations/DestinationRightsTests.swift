import Foundation
import ODataService
import Testing

@testable import MobileServer

@Suite("Permissions at a destination")
struct DestinationRightsTests {
    /// Sales may see and change the products of category 1, and create products there; everybody may see categories.
    private static let rules = [
        PermissionRule(
            role: "sales", set: "Products", verbs: ["read", "create", "update", "delete"], filter: "CategoryID eq 1"),
        PermissionRule(role: "everyone", destination: "shop", set: "Categories", verbs: ["read"]),
        PermissionRule(role: "sales", destination: "other", set: "*", verbs: ["read", "create", "update", "delete"]),
    ]

    private func run(_ body: (DestinationSite, ShopBackEnd) async throws -> Void) async throws {
        try await ShopBackEnd.run {
            $0.permissions = Self.rules
            // A permission may only name a destination of the application.
            $0.destinations["other"] = DestinationConfiguration(url: "https://other.example/")
        } _: { site, backEnd in
            try await backEnd.send(
                "POST", "Products", "{\"ID\": 20, \"Name\": \"Hidden\", \"Price\": 1, \"CategoryID\": 2}")
            try await body(site, backEnd)
        }
    }

    private let json = ["Content-Type": "application/json"]

    @Test("Only permitted rows are read, also by key and in counts")
    func reads() async throws {
        try await run { site, _ async throws in
            let rows = try await Wire.send("GET", site.url + "Products")
            #expect(rows.rows.count == 3)
            #expect(!rows.text.contains("Hidden"))
            #expect(try await Wire.send("GET", site.url + "Products/$count").text == "3")
            #expect(try await Wire.send("GET", site.url + "Products?$filter=CategoryID%20eq%202").rows.isEmpty)
            #expect(
                try await Wire.send("GET", site.url + "Products?$filter=ID%20eq%2020%20or%20true").text.contains(
                    "Hidden") == false)
            #expect(try await Wire.send("GET", site.url + "Products(20)").status == 404)
            let own = try await Wire.send("GET", site.url + "Products(2)")
            #expect(own.json["Name"] as? String == "Product 2")
        }
    }

    @Test("No path shows hidden rows: navigation, expansion, aggregation, batches and feeds")
    func detours() async throws {
        try await run { site, _ async throws in
            for path in [
                "Categories(2)/Products", "Categories?$expand=Products", "Products?$apply=aggregate($count%20as%20N)",
                "Categories?$filter=Products/any(p:p/ID%20eq%2020)", "$all", "Products(20)/Name",
                "Products(20)/Category",
                "$crossjoin(Products,Categories)", "$entity?$id=Products(20)", "Products(2)/Category",
            ] {
                let answer = try await Wire.send("GET", site.url + path)
                #expect((400..<500).contains(answer.status), "\(path): \(answer.status) \(answer.text)")
                #expect(!answer.text.contains("Hidden"))
            }
            let tracked = try await Wire.send("GET", site.url + "Products", ["Prefer": "odata.track-changes"])
            #expect(!tracked.text.contains("Hidden"))
            #expect(try await site.feed() == nil)
        }
    }

    @Test("A change is permitted only if the row matches before and after the change")
    func changes() async throws {
        try await run { site, backEnd in
            func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> Int {
                try await Wire.send(method, site.url + path, json, body: body).status
            }
            #expect(try await send("PATCH", "Products(20)", "{\"Name\": \"x\"}") == 403)
            #expect(try await send("DELETE", "Products(20)") == 403)
            #expect(try await send("PATCH", "Products(2)", "{\"CategoryID\": 2}") == 403)
            #expect(
                try await send("POST", "Products", "{\"ID\": 30, \"Name\": \"n\", \"Price\": 1, \"CategoryID\": 2}")
                    == 403)
            #expect(try await send("POST", "Categories", "{\"ID\": 30, \"Name\": \"n\"}") == 403)
            #expect(
                try await send("POST", "Products", "{\"ID\": 31, \"Name\": \"n\", \"Price\": 1, \"CategoryID\": 1}")
                    < 300)
            #expect(try await send("PATCH", "Products(2)", "{\"Name\": \"mine\"}") < 300)
            #expect(try await send("DELETE", "Products(3)") < 300)
            let changed = try await Wire.send("GET", backEnd.url + "Products(2)")
            #expect(changed.json["Name"] as? String == "mine")
            #expect(try await Wire.send("GET", backEnd.url + "Products(20)").status == 200)
        }
    }

    @Test("A caller without a role sees no rows of the set")
    func withoutRole() async throws {
        try await run { site, _ async throws in
            site.caller.withLock { $0.principal = Principal(name: "bob") }
            #expect(try await Wire.send("GET", site.url + "Products").status == 403)
            #expect(try await Wire.send("GET", site.url + "Products(1)").status == 403)
            #expect(try await Wire.send("GET", site.url + "Categories").rows.count == 2)
        }
    }

    @Test("Without permissions in the configuration, all requests pass")
    func none() async throws {
        try await ShopBackEnd.run { site, _ async throws in
            #expect(try await Wire.send("GET", site.url + "Products(1)").status == 200)
        }
    }
}
