import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("Dynamic queries of a service")
struct SelectionAccessTests {
    private static let ann = Principal(name: "ann")

    private func guarded() async throws -> Bazaar {
        let bazaar = try await Bazaar { definition in
            definition.authorization = { principal, set in
                guard let principal else { return .none }
                if principal.roles.contains("admin") { return .full }
                switch set {
                case "Orders": return Access(rowFilter: "Owner eq '\(principal.name)'", hiding: ["Margin"])
                case "Products": return Access(rowFilter: "Category/Name ne 'Secret' and Price lt 100")
                default: return .full
                }
            }
        }
        let rows = """
            {"Orders":[{"ID":1,"Owner":"ann","Margin":5},{"ID":2,"Owner":"bob","Margin":7}],
            "Categories":[{"ID":1,"Name":"Kitchen"},{"ID":2,"Name":"Secret"}],
            "Products":[{"Name":"Mug","CategoryID":1},{"Name":"Plan","CategoryID":2},
            {"Name":"Gold","CategoryID":1,"Price":500}]}
            """
        try await bazaar.service.seed(json: Array(rows.utf8))
        return bazaar
    }

    @Test("Hidden rows appear in no source, join, sub-query or count")
    func rows() async throws {
        let bazaar = try await guarded()
        let products = Selection.from("Products", as: "p").select("p.Name")
        func names(_ selection: Selection, _ principal: Principal? = Self.ann) async throws -> [String] {
            try await bazaar.service.select(selection, for: principal).map { try $0.value(0, as: String.self) }
        }
        #expect(try await names(products) == ["Mug"])
        let categories = Selection.from("Categories", as: "c").select("c.Name").orderBy("Name")
        let filled = categories.where(
            .exists(products.where(.attribute("p.CategoryID", .equal, .attribute("c.ID")))))
        #expect(try await names(filled) == ["Kitchen"])
        let joined = categories.join(products, as: "n").join(
            "Products", as: "q", on: .attribute("q.CategoryID", .equal, .attribute("c.ID")))
        #expect(try await names(joined) == ["Kitchen"])
        let count = Selection.from("Products", as: "p").select(.column(.count, as: "n"))
        #expect(try await bazaar.service.select(count, for: Self.ann).first?.value("n", as: Int64.self) == 1)
        let admin = Principal(name: "root", roles: ["admin"])
        #expect(try await names(products.orderBy("Name"), admin) == ["Gold", "Mug", "Plan"])
    }

    @Test("Hidden properties and forbidden sets are refused at any depth")
    func refusals() async throws {
        let bazaar = try await guarded()
        func status(_ selection: Selection, _ principal: Principal?) async -> Int? {
            do {
                _ = try await bazaar.service.select(selection, for: principal)
                return nil
            } catch {
                return (error as? ODataError)?.status
            }
        }
        let orders = Selection.from("Orders", as: "o").select("o.ID")
        let products = Selection.from("Products", as: "p").select("p.Name")
        #expect(await status(orders, Self.ann) == 403)
        #expect(await status(products.where(.exists(orders)), Self.ann) == 403)
        #expect(await status(.from(orders, as: "s"), Self.ann) == 403)
        #expect(await status(products.union(Selection.from("Orders", as: "o").select("o.Owner")), Self.ann) == 403)
        #expect(await status(products, nil) == 401)
        #expect(await status(products, Self.ann) == nil)
    }
}
