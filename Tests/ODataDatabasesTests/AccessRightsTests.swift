import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataDatabases

@Suite("Rights by role, set and row")
struct AccessRightsTests {
    private static func rights(_ permissions: AccessPermission...) -> AccessRights {
        var rights = AccessRights()
        rights.members = ["sales": [AccessRights.Member("ann"), AccessRights.Member("bob", issuer: "https://x")]]
        rights.permissions = permissions
        return rights
    }

    @Test("A member is identified by name and issuer: the same name from another issuer has no rights")
    func members() {
        let rights = Self.rights(AccessPermission(role: "sales", set: "Orders", verbs: [.read]))
        func reads(_ principal: Principal?) -> Bool { rights.access(of: principal, to: "Orders").allows(.read) }
        #expect(reads(Principal(name: "ann")))
        #expect(!reads(Principal(name: "ann", claims: ["iss": "https://x"])))
        #expect(reads(Principal(name: "bob", claims: ["iss": "https://x"])))
        #expect(!reads(Principal(name: "bob")))
        #expect(!reads(Principal(name: "a\u{6E}n\u{301}")) && !reads(nil))
        #expect(reads(Principal(name: "eve", roles: ["sales"], claims: ["iss": "https://x"])), "a role of the token")
    }

    @Test("Everything is forbidden without a permission, and permissions add up")
    func union() {
        let rights = Self.rights(
            AccessPermission(role: "sales", set: "Orders", verbs: [.read], filter: "A eq 1"),
            AccessPermission(role: "signed-in", set: "Orders", verbs: [.read, .update], filter: "B eq @user"),
            AccessPermission(role: "everyone", set: "*", verbs: [.create]))
        let both = rights.access(of: Principal(name: "ann"), to: "Orders")
        #expect(both.kinds == [.read, .update, .create])
        #expect(both.rowFilter == AccessFilter("(A eq 1) or (B eq @user)", values: ["user": "ann"]))
        #expect(both.changeFilters == [.update: AccessFilter("B eq @user", values: ["user": "ann"])])
        #expect(rights.access(of: nil, to: "Orders").kinds == [.create])
        #expect(rights.access(of: nil, to: "Totals", isOperation: true).kinds.isEmpty)
        #expect(AccessRights().access(of: Principal(name: "ann"), to: "Orders") == .none)
        let all = Self.rights(
            AccessPermission(role: "sales", set: "Orders", verbs: [.read], filter: "A eq 1"),
            AccessPermission(role: "sales", set: "Orders", verbs: [.read]))
        #expect(all.access(of: Principal(name: "ann"), to: "Orders").rowFilter == nil)
    }

    @Test("A caller without the claim that a filter names does not have the permission")
    func claims() {
        let rights = Self.rights(
            AccessPermission(role: "everyone", set: "Orders", verbs: [.read], filter: "Region eq @claim_region"))
        #expect(rights.access(of: Principal(name: "ann"), to: "Orders") == .none)
        #expect(rights.access(of: nil, to: "Orders") == .none)
        let north = rights.access(of: Principal(name: "ann", claims: ["region": "north"]), to: "Orders")
        #expect(north.rowFilter?.values == ["claim_region": "north"])
    }

    @Test(
        "A user name cannot change the meaning of a filter",
        arguments: ["' or true or '", "%27 or true or %27", "x'--", "@user", "null"])
    func injection(name: String) async throws {
        let fixture = try ForeignFixture(
            "CREATE TABLE Orders (ID INTEGER PRIMARY KEY, Owner TEXT); INSERT INTO Orders VALUES (1, 'ann'), (2, NULL);"
        )
        var options = ServedDatabase.Options()
        let rights = Self.rights(
            AccessPermission(role: "signed-in", set: "Orders", verbs: [.read], filter: "Owner eq @user"))
        options.authorization = { rights.access(of: $0, to: $1) }
        let database = try await ServedDatabase.open(path: fixture.path, options: options)
        var request = try database.request(.read, "Orders")
        request.context.principal = Principal(name: name)
        func count() async throws -> Int? {
            if case .page(let page) = try await database.execute(request).body { page.entities.count } else { nil }
        }
        #expect(try await count() == 0)
        request.url.options.aliases = ["user": .literal(.init(.string("ann"), type: .string))]
        #expect(try await count() == 0, "an alias of the request is none of the filter")
    }

    @Test("A permission that does not fit the model is refused with a reason")
    func check() async throws {
        let fixture = try ForeignFixture(
            "CREATE TABLE Orders (ID INTEGER PRIMARY KEY, Owner TEXT); CREATE VIEW Totals AS SELECT Owner FROM Orders;")
        let database = try await ServedDatabase.open(path: fixture.path)
        func reason(_ set: String, _ filter: String? = nil, _ verbs: Set<Access.Kind> = [.read]) -> String? {
            let rights = Self.rights(AccessPermission(role: "sales", set: set, verbs: verbs, filter: filter))
            do throws(AccessRightsError) {
                try rights.check(in: database.model)
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(reason("Orders", "Owner eq @user and startswith(Owner,@claim_x)") == nil)
        #expect(reason("*") == nil && reason("Totals") == nil)
        #expect(reason("Order")?.contains("Orders") == true)
        #expect(reason("Orders", "Ownr eq 'x'")?.contains("Owner") == true)
        #expect(reason("Orders", "Owner eq @name")?.contains("@claim_NAME") == true)
        #expect(reason("*", "Owner eq @user") != nil && reason("Totals", "Owner eq 'x'") != nil)
        #expect(reason("Totals", nil, [.update]) != nil)
    }
}
