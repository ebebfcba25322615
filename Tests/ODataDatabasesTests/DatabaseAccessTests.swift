import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataDatabases
@testable import ODataSQL

/// A database in which ann sees her own orders, and nobody sees secret customers, as an attacker uses it.
@Suite("A served database with rights hides rows")
struct DatabaseAccessTests {
    private static let sql = """
        CREATE TABLE Customer (ID INTEGER PRIMARY KEY, Name TEXT, Level TEXT);
        CREATE TABLE Orders (ID INTEGER PRIMARY KEY, Owner TEXT, Freight INTEGER,
          CustomerID INTEGER REFERENCES Customer(ID));
        CREATE TABLE Tag (Owner TEXT, Word TEXT, PRIMARY KEY (Owner, Word)) WITHOUT ROWID;
        CREATE TABLE Salary (ID INTEGER PRIMARY KEY, Amount INTEGER);
        CREATE VIEW Totals AS SELECT Owner, sum(Freight) AS Total FROM Orders GROUP BY Owner;
        INSERT INTO Customer VALUES (1, 'Alf', 'open'), (2, 'Spy', 'secret');
        INSERT INTO Orders VALUES (1, 'ann', 10, 1), (2, 'ann', 20, 2), (3, 'bob', 400, 1), (4, 'bob', 800, 2);
        INSERT INTO Tag VALUES ('ann', 'red'), ('bob', 'blue');
        INSERT INTO Salary VALUES (1, 1000);
        """

    private static let ann = Principal(name: "ann")
    private static let bob = Principal(name: "bob")

    private static func rights() -> AccessRights {
        var rights = AccessRights()
        rights.members["boss"] = [AccessRights.Member("eve")]
        rights.members["auditor"] = [AccessRights.Member("dan")]
        rights.permissions = [
            AccessPermission(
                role: AccessPermission.signedIn, set: "Orders", verbs: [.read, .create, .update],
                filter: "Owner eq @user"),
            AccessPermission(
                role: AccessPermission.signedIn, set: "Orders", verbs: [.delete],
                filter: "Owner eq @user and Freight lt 15"),
            AccessPermission(
                role: AccessPermission.signedIn, set: "Customer", verbs: [.read], filter: "Level ne 'secret'"),
            AccessPermission(
                role: AccessPermission.signedIn, set: "Tag", verbs: Set(Access.Kind.allCases), filter: "Owner eq @user"),
            AccessPermission(role: "auditor", set: "Totals", verbs: [.read]),
            AccessPermission(role: "boss", set: AccessPermission.allSets, verbs: Set(Access.Kind.allCases)),
        ]
        return rights
    }

    private let fixture: ForeignFixture
    private let database: ServedDatabase

    init() async throws {
        fixture = try ForeignFixture(Self.sql)
        var options = ServedDatabase.Options()
        let rights = Self.rights()
        options.authorization = { principal, set in
            rights.access(of: principal, to: set, isOperation: set == "Totals")
        }
        database = try await ServedDatabase.open(path: fixture.path, options: options)
        try rights.check(in: database.model)
    }

    private func send(
        _ method: ODataRequest.Method, _ url: String, _ set: String = "", _ body: [String: ODataValue]? = nil,
        ifMatch: String? = nil, as principal: Principal? = Self.ann, track: Bool = false
    ) async throws -> ODataResponse {
        var request = try database.request(
            method, url, body.map { try database.entity(set, $0) }, ifMatch: ifMatch)
        request.context.principal = principal
        request.preferences.trackChanges = track
        return try await database.execute(request)
    }

    private func status(
        _ method: ODataRequest.Method, _ url: String, _ set: String = "", _ body: [String: ODataValue]? = nil,
        ifMatch: String? = nil, as principal: Principal? = Self.ann
    ) async -> Int {
        do {
            return try await send(method, url, set, body, ifMatch: ifMatch, as: principal).status
        } catch {
            return (error as? ODataError)?.status ?? 0
        }
    }

    /// The whole answer as text.
    private func text(_ url: String, as principal: Principal? = Self.ann) async throws -> String {
        "\(try await send(.read, url, as: principal).body)"
    }

    private func page(_ url: String, as principal: Principal? = Self.ann, track: Bool = false) async throws
        -> EntityPage
    {
        guard case .page(let page) = try await send(.read, url, as: principal, track: track).body else {
            throw ODataError(status: 500, code: "NoPage", message: url)
        }
        return page
    }

    private func ids(_ url: String, as principal: Principal? = Self.ann) async throws -> [ODataValue?] {
        try await page(url, as: principal).entities.map { $0["ID"] }
    }

    @Test("in collections, by key, along navigation and in counts")
    func reading() async throws {
        #expect(try await ids("Orders") == [1, 2])
        #expect(try await ids("Orders", as: Self.bob) == [3, 4])
        #expect(try await ids("Orders", as: Principal(name: "eve")) == [1, 2, 3, 4])
        #expect(await status(.read, "Orders(3)") == 404)
        #expect(await status(.read, "Customer(2)") == 404)
        #expect(await status(.read, "Customer(2)/Name") == 404)
        #expect(await status(.read, "Orders(3)/Freight/$value") == 404)
        #expect(await status(.read, "Salary") == 403)
        #expect(await status(.read, "Orders", as: nil) == 401)
        #expect(try await text("Orders/$count") == "count(2)")
        #expect(try await page("Tag").entities.map { $0["Word"] } == ["red"], "a table without row ids")
        #expect(await status(.read, "Tag(Owner='bob',Word='blue')") == 404)
    }

    @Test(
        "in expands, conditions, orders, aggregations and searches",
        arguments: [
            "Customer?$expand=Orders", "Customer(1)/Orders", "Customer?$filter=Orders/any(o:o/Freight gt 300)",
            "Orders?$filter=Customer/Name eq 'Spy'", "Customer?$filter=Orders/$count gt 1",
            "Orders/$filter(Freight gt 300)",
            "Orders?$apply=aggregate(Freight with max as M)", "Orders?$apply=groupby((Owner),aggregate($count as N))",
            "Customer?$apply=aggregate(Orders/Freight with max as M)", "Orders?$search=bob",
            "$crossjoin(Orders,Customer)",
            "Orders?$expand=Customer", "Orders?$apply=groupby((Customer/Name))",
            "Orders?$compute=Customer/Name as N&$select=ID,N",
            "Orders?$filter=ID in $root/Orders/ID", "Orders?$filter=$root/Orders(3)/Freight eq 400",
            "Customer?$expand=Orders($count=true)", "Customer?$expand=Orders/$count", "Customer?$expand=Orders/$ref",
            "Orders/$ref", "Customer(1)/Orders/$ref", "Orders?$orderby=Customer/Level desc,ID desc&$top=1",
            "Customer?$compute=Orders/$count as N&$select=ID,N", "Customer?$apply=expand(Orders,filter(Freight gt 1))",
            "Orders?$apply=join(Customer as C)", "Customer?$apply=concat(aggregate($count as A),identity)",
        ])
    func query(url: String) async throws {
        let words = ["bob", "400", "800", "Spy", "secret", "1230"]
        do {
            let response = try await send(.read, url)
            let answer = Self.plain("\(response.body)")
            for word in words where !url.contains(word) { #expect(!answer.contains(word), "\(url): \(word)") }
            // The answer is that of a database without the hidden rows.
            let (fixture, other) = try await Self.withoutHiddenRows()
            var request = try other.request(.read, url)
            request.context.principal = Self.ann
            let plain = Self.plain("\(try await other.execute(request).body)")
            // Combinations of rows are printed in any order of their names.
            #expect(Self.words(answer) == Self.words(plain), "\(url)")
            withExtendedLifetime(fixture) {}
        } catch let error as ODataError {
            #expect([400, 403, 501].contains(error.status), "\(url): \(error)")
        }
    }

    /// A database without the rows that ann does not see, and without rights.
    private static func withoutHiddenRows() async throws -> (ForeignFixture, ServedDatabase) {
        let fixture = try ForeignFixture(
            sql + "PRAGMA foreign_keys = OFF; DELETE FROM Orders WHERE Owner <> 'ann'; "
                + "DELETE FROM Customer WHERE Level = 'secret';")
        return (fixture, try await ServedDatabase.open(path: fixture.path))
    }

    /// The words of an answer, in alphabetical order.
    private static func words(_ text: String) -> [Substring] {
        text.split { !$0.isLetter && !$0.isNumber }.sorted()
    }

    /// An answer without the parts that differ between two equal databases.
    private static func plain(_ text: String) -> String {
        text.replacing(/0x[0-9a-f]+/, with: "").replacing(/W\/\\?"[^"]*\\?"/, with: "")
    }

    @Test("from changes, which are checked before and after, whatever their ETag")
    func changes() async throws {
        #expect(await status(.update, "Orders(1)", "Orders", ["Freight": 11]) < 300)
        #expect(await status(.update, "Orders(3)", "Orders", ["Freight": 1]) == 404)
        #expect(await status(.update, "Orders(3)", "Orders", ["Freight": 1], ifMatch: "W/\"x\"") == 412, "like 99")
        #expect(await status(.update, "Orders(99)", "Orders", ["Freight": 1], ifMatch: "W/\"x\"") == 412)
        #expect(await status(.delete, "Orders(3)", ifMatch: "*") == 412)
        #expect(await status(.delete, "Orders(99)", ifMatch: "*") == 412)
        #expect(await status(.update, "Orders(1)", "Orders", ["Owner": "bob"]) == 403, "after the change")
        #expect(await status(.create, "Orders", "Orders", ["ID": 9, "Owner": "bob"]) == 403)
        #expect(await status(.create, "Orders", "Orders", ["ID": 9, "Owner": "ann"]) == 201)
        #expect(await status(.delete, "Orders(2)") == 403, "visible, but the permission leaves it out")
        #expect(await status(.delete, "Orders(1)") == 204)
        #expect(await status(.create, "Customer", "Customer", ["ID": 9]) == 403)
        #expect(await status(.update, "Salary(1)", "Salary", ["Amount": 1]) == 403)
        #expect(await status(.create, "Orders", "Orders", ["ID": 10, "Owner": "ann"], as: nil) == 401)
        #expect(await status(.update, "Tag(Owner='bob',Word='blue')", "Tag", [:]) == 404)
        #expect(await status(.delete, "Tag(Owner='bob',Word='blue')") == 404)
        #expect(await status(.create, "Tag", "Tag", ["Owner": "bob", "Word": "x"]) == 403, "a table without row ids")
        #expect(await status(.create, "Tag", "Tag", ["Owner": "ann", "Word": "x"]) == 201)
        #expect(await status(.delete, "Orders/$filter(Freight gt 300)/$each") < 300, "it finds no row")
        #expect(await status(.delete, "Customer(2)/Orders(2)") == 404, "by way of a hidden customer")
        #expect(try fixture.value("SELECT group_concat(ID) FROM Orders WHERE Owner = 'bob'") == "3,4")
        #expect(try fixture.value("SELECT Freight FROM Orders WHERE ID = 3") == 400)
        #expect(try fixture.value("SELECT count(*) FROM Tag WHERE Owner = 'bob'") == 1)
    }

    @Test("from batches and change sets, which use the caller of each request")
    func batches() async throws {
        func item(_ id: String, _ request: ODataRequest, _ group: String? = nil) -> BatchItem {
            var request = request
            request.context.principal = Self.ann
            return BatchItem(id: id, request: request, atomicityGroup: group)
        }
        var batch = ODataRequest(.create, try ODataURL(parsing: "$batch"))
        batch.body = .batch([
            item("1", try database.request(.read, "Orders")),
            item("2", try database.request(.update, "Orders(3)", try database.entity("Orders", ["Freight": 5])), "g"),
            item("3", try database.request(.read, "Salary")),
        ])
        batch.preferences.continueOnError = true
        batch.context.principal = Self.ann
        let answer = "\(try await database.execute(batch).body)"
        #expect(!answer.contains("bob") && !answer.contains("1000"))
        #expect(try fixture.value("SELECT Freight FROM Orders WHERE ID = 3") == 400)
    }

    @Test("from delta links, which only callers with access to all rows get")
    func deltas() async throws {
        let hidden = try await page("Orders", track: true)
        let seen = try await page("Orders", as: Principal(name: "eve"), track: true)
        #expect(hidden.deltaLink == nil)
        let link = try #require(seen.deltaLink)
        _ = try await send(.delete, "Orders(4)", as: Principal(name: "eve"))
        #expect(await status(.read, link) == 410, "the link of somebody who sees more")
        #expect(await status(.read, link, as: Principal(name: "eve")) == 200)
    }

    @Test("from views and functions without a named permission")
    func views() async throws {
        let call = database.model.container.operationImports.first { $0.name == "Totals" }
        _ = try #require(call)
        #expect(await status(.read, "Totals()") == 403)
        #expect(await status(.read, "Totals()", as: Principal(name: "eve")) == 403, "all sets are no functions")
        #expect(await status(.read, "Totals()", as: Principal(name: "dan")) == 200)
    }
}
