import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataDatabases
@testable import ODataSQL

extension ServedDatabase {
    func get(
        _ url: String, track: Bool = false, pageSize: Int? = nil
    ) async throws -> ODataResponse {
        let preferences = Preferences(maxPageSize: pageSize, trackChanges: track)
        return try await execute(ODataRequest(.read, try ODataURL(parsing: url), preferences: preferences))
    }

    /// Returns the page in the response to a GET request.
    func page(_ url: String, track: Bool = false, pageSize: Int? = nil) async throws -> EntityPage {
        guard case .page(let page) = try await get(url, track: track, pageSize: pageSize).body else {
            throw ODataError(status: 500, code: "NoPage", message: url)
        }
        return page
    }

    func entity(_ set: String, _ properties: [String: ODataValue]) throws -> ODataEntity {
        guard let shape = model.shape(ofSet: set) else { throw ODataError.notFound(set) }
        return ODataEntity(shape: shape, properties)
    }

    func request(
        _ method: ODataRequest.Method, _ url: String, _ entity: ODataEntity? = nil, ifMatch: String? = nil,
        id: String? = nil, firstSent: String = "Sat, 21 Nov 2026 10:00:00 GMT"
    ) throws -> ODataRequest {
        ODataRequest(
            method, try ODataURL(parsing: url), body: entity.map { .entity($0) } ?? .none, ifMatch: ifMatch,
            repeatability: id.map { Repeatability(requestID: $0, firstSent: firstSent) })
    }
}

@Suite("A served database")
struct ServedDatabaseTests {
    static let people = """
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER CHECK (age >= 0),
          boss INTEGER REFERENCES person(id), email TEXT UNIQUE);
        INSERT INTO person VALUES (1, 'Ann', 40, NULL, 'a@x'), (2, 'Bob', 30, 1, 'b@x'), (3, 'Cid', 20, 1, 'c@x');
        """

    @Test("The file beside a database is readable for the same users as the database", arguments: [0o600, 0o664])
    func modeOfSideFile(mode: Int) async throws {
        let fixture = try ForeignFixture("CREATE TABLE t (id INTEGER PRIMARY KEY, secret TEXT)")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fixture.path)
        let database = try await ServedDatabase.open(path: fixture.path)
        let made = try FileManager.default.attributesOfItem(atPath: fixture.path + "-outpost")[.posixPermissions]
        #expect((made as? NSNumber)?.intValue == mode)
        withExtendedLifetime(database) {}
    }

    @Test("Northwind answers queries over joins, dates, decimals, blobs and self references")
    func northwind() async throws {
        guard let fixture = try ForeignFixture(northwind: ()) else { return }
        let database = try await ServedDatabase.open(path: fixture.path)
        #expect(database.warnings == [])
        for set in database.model.container.entitySets {
            let rows = try await database.page("\(set.name)?$top=3&$count=true")
            #expect(rows.count ?? 0 >= Int64(rows.entities.count), "\(set.name)")
        }
        let url =
            "Orders?$filter=OrderDate ge 1998-05-01T00:00:00Z and Freight gt 50&$expand=Customer&$orderby=Freight desc"
        let orders = try await database.page(url)
        let expected: Int? = try fixture.value(
            "SELECT COUNT(*) FROM Orders WHERE OrderDate >= '1998-05-01 00:00:00.000' AND Freight > 50")
        #expect(orders.entities.count == expected && expected != 0)
        #expect(orders.entities.allSatisfy { $0.related["Customer"] != nil })
        let boss = try await database.page("Employees?$filter=ReportsToEmployee/LastName eq 'Fuller'")
        #expect(boss.entities.count == 5)
        guard case .entity(let detail) = try await database.get("Order_Details(OrderID=10248,ProductID=11)").body else {
            Issue.record("no entity")
            return
        }
        #expect(detail["UnitPrice"] == .decimal(ODataDecimal(14)))
        #expect(detail.control.etag?.hasPrefix("W/\"") == true)
        guard case .value(.collection(let products), _) = try await database.get("Current_Product_List()").body else {
            Issue.record("no function result")
            return
        }
        #expect(products.count == 69)
        try await database.close()
        #expect(try fixture.value("PRAGMA journal_mode") == "delete")
    }

    @Test("Database constraints are enforced, and errors name the property")
    func writing() async throws {
        let fixture = try ForeignFixture(Self.people)
        let database = try await ServedDatabase.open(path: fixture.path)
        let created = try await database.execute(
            try database.request(.create, "person", try database.entity("person", ["name": "Dan", "boss": 2])))
        #expect(created.status == 201 && created.location == "person(4)")
        let etag = try #require(created.etag)
        func refusal(_ request: ODataRequest) async -> ODataError? {
            do {
                _ = try await database.execute(request)
                return nil
            } catch {
                return error as? ODataError
            }
        }
        func patch(_ properties: [String: ODataValue], ifMatch: String? = nil) throws -> ODataRequest {
            try database.request(.update, "person(4)", try database.entity("person", properties), ifMatch: ifMatch)
        }
        let unique = await refusal(try patch(["email": "a@x"]))
        #expect(unique?.status == 409 && unique?.target == "email")
        let check = await refusal(try patch(["age": -1]))
        #expect(check?.status == 400 && check?.target == "age")
        let reference = await refusal(try patch(["boss": 99]))
        #expect(reference?.status == 409 && reference?.target == "bossPerson" || reference?.target == "bossperson")
        let missing = await refusal(try patch(["name": .null]))
        #expect(missing?.status == 400 && missing?.target == "name")
        try fixture.elsewhere("UPDATE person SET age = 5 WHERE id = 4")
        let stale = await refusal(try patch(["age": 6], ifMatch: etag))
        #expect(stale?.status == 412)
        let referenced = await refusal(try database.request(.delete, "person(1)"))
        #expect(referenced?.status == 409)
        _ = try await database.execute(try database.request(.delete, "person(4)"))
        #expect(try fixture.value("SELECT COUNT(*) FROM person") == 3)
        try await database.close()
    }

    @Test("Names with quotes in them are names, not SQL, when read, queried and written")
    func quotes() async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE "a""b" (id INTEGER PRIMARY KEY, "c""d" TEXT, "e'f" INTEGER);
            INSERT INTO "a""b" VALUES (1, 'x', 2);
            """)
        let database = try await ServedDatabase.open(path: fixture.path)
        let rows = try await database.page("a_b?$filter=c_d eq 'x' and e_f eq 2&$orderby=c_d", track: true)
        #expect(rows.entities.count == 1)
        let change = try database.entity("a_b", ["c_d": "y"])
        _ = try await database.execute(try database.request(.update, "a_b(1)", change))
        #expect(try fixture.value("SELECT \"c\"\"d\" FROM \"a\"\"b\"") == "y")
        try await database.close()
    }

    @Test("NaN is refused, since a REAL column cannot store it")
    func notANumber() async throws {
        let fixture = try ForeignFixture(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, r REAL); INSERT INTO t VALUES (1, 2.5);")
        let database = try await ServedDatabase.open(path: fixture.path)
        let change = try database.entity("t", ["r": .double(.nan)])
        do {
            _ = try await database.execute(try database.request(.update, "t(1)", change))
            Issue.record("NaN was taken")
        } catch let error as ODataError {
            #expect(error.status == 400 && error.target == "r")
        }
        #expect(try fixture.value("SELECT typeof(r) FROM t") == "real")
        try await database.close()
    }

    @Test("Opening fails with the reason: missing, no database, damaged, locked")
    func opening() async throws {
        let fixture = try ForeignFixture(Self.people)
        func error(_ path: String) async -> ForeignDatabaseError? {
            var options = ServedDatabase.Options()
            options.busyTimeout = 0.1
            do {
                _ = try await ServedDatabase.open(path: path, options: options)
                return nil
            } catch {
                return error as? ForeignDatabaseError
            }
        }
        let missing = fixture.folder.appendingPathComponent("missing.db").path
        #expect(await error(missing) == .notFound(path: missing))
        #expect(!FileManager.default.fileExists(atPath: missing))
        #expect(await error(fixture.folder.path) == .notADatabase(path: fixture.folder.path))
        let text = fixture.folder.appendingPathComponent("text.db")
        try Data(String(repeating: "hello ", count: 300).utf8).write(to: text)
        #expect(await error(text.path) == .notADatabase(path: text.path))
        let noise = fixture.folder.appendingPathComponent("noise.db")
        try Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 200) }).write(to: noise)
        guard case .encryptedOrDamaged = await error(noise.path) else {
            Issue.record("noise")
            return
        }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: fixture.path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        #expect(await error(fixture.path) == .locked(path: fixture.path))
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }

    @Test("Opening an encrypted database by mistake keeps its log", arguments: ["-wal", "-journal"])
    func encryptedWithLog(suffix: String) async throws {
        let fixture = try ForeignFixture(Self.people)
        let sealed = fixture.folder.appendingPathComponent("sealed ?#.db").path
        let noise = Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 200) })
        try noise.write(to: URL(fileURLWithPath: sealed))
        try noise.write(to: URL(fileURLWithPath: sealed + suffix))
        await #expect(throws: ForeignDatabaseError.self) { _ = try await ServedDatabase.open(path: sealed) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: sealed)) == noise)
        #expect(FileManager.default.contents(atPath: sealed + suffix) == noise, "nothing was deleted")
    }

    @Test("A read-only service refuses changes, and its model says so")
    func readOnly() async throws {
        let fixture = try ForeignFixture(Self.people)
        var options = ServedDatabase.Options()
        options.isReadOnly = true
        let database = try await ServedDatabase.open(path: fixture.path, options: options)
        await #expect(throws: ODataError.self) {
            try await database.execute(try database.request(.delete, "person(3)"))
        }
        #expect(!database.model.allows("InsertRestrictions", "Insertable", on: "person"))
        let page = try await database.page("person", track: true)
        #expect(page.deltaLink != nil)
        try fixture.elsewhere("DELETE FROM person WHERE id = 3")
        let delta = try await database.page(try #require(page.deltaLink))
        #expect(delta.removed.map(\.id) == ["person(3)"])
        try await database.close()
    }

    @Test("Reads and changes accept the same spellings of a key")
    func upperCaseGUIDs() async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE owner (id UUID PRIMARY KEY, a TEXT);
            CREATE TABLE pet (id INTEGER PRIMARY KEY, owner_id UUID REFERENCES owner, name TEXT);
            CREATE TABLE slot (start TIME PRIMARY KEY, a TEXT);
            INSERT INTO owner VALUES ('0F8FAD5B-D9CB-469F-A165-70867728950E', 'x'),
              ('1f8FAd5b-d9CB-469f-A165-70867728950e', 'y');
            INSERT INTO slot VALUES ('13:20', 'x'), ('14:00:00.00', 'y');
            """)
        let database = try await ServedDatabase.open(path: fixture.path)
        #expect(database.warnings == [])
        let upper = "owner(0f8fad5b-d9cb-469f-a165-70867728950e)"
        let mixed = "owner(1f8fad5b-d9cb-469f-a165-70867728950e)"
        let etag = try #require(try await database.get(upper).etag)
        let a = try database.entity("owner", ["a": "A"])
        _ = try await database.execute(try database.request(.update, upper, a, ifMatch: etag))
        _ = try await database.execute(try database.request(.update, mixed, a))
        #expect(try fixture.value("SELECT COUNT(*) FROM owner WHERE a = 'A'") == 2)
        #expect(try fixture.value("SELECT COUNT(*) FROM owner") == 2)
        let first = try #require(ODataGuid("0f8fad5b-d9cb-469f-a165-70867728950e"))
        await #expect(throws: ODataError.self) {
            try await database.execute(
                try database.request(.create, "owner", try database.entity("owner", ["id": .guid(first)])))
        }
        // A foreign key is stored with the spelling of the referenced key, because SQLite compares bytes.
        _ = try await database.execute(
            try database.request(.create, "pet", try database.entity("pet", ["owner_id": .guid(first)])))
        #expect(try fixture.value("SELECT owner_id FROM pet") == "0F8FAD5B-D9CB-469F-A165-70867728950E")
        let second = ODataGuid(high: first.high | 1 << 60, low: first.low)
        _ = try await database.execute(
            try database.request(.update, "pet(1)", try database.entity("pet", ["owner_id": .guid(second)])))
        #expect(try fixture.value("SELECT owner_id FROM pet") == "1f8FAd5b-d9CB-469f-A165-70867728950e")
        _ = try await database.execute(try database.request(.delete, upper))
        #expect(try fixture.value("SELECT COUNT(*) FROM owner") == 1)
        for url in ["slot(13:20:00)", "slot(14:00)"] {
            #expect(try await database.get(url).status == 200, "\(url)")
            let change = try database.entity("slot", ["a": "z"])
            _ = try await database.execute(try database.request(.update, url, change))
        }
        #expect(try fixture.value("SELECT COUNT(*) FROM slot WHERE a = 'z'") == 2)
        _ = try await database.execute(try database.request(.delete, "slot(13:20)"))
        #expect(try fixture.value("SELECT COUNT(*) FROM slot") == 1)
        try await database.close()
    }

    @Test("A key with the text of a GUID uses its index")
    func guidPlan() throws {
        let fixture = try ForeignFixture("CREATE TABLE owner (id UUID PRIMARY KEY, a TEXT)")
        let foreign = try fixture.model()
        let url = try ODataURL(parsing: "owner(0f8fad5b-d9cb-469f-a165-70867728950e)")
        let bound = try Binder(model: foreign.model).bind(url)
        let shape = try #require(foreign.model.shape(ofSet: "owner"))
        let query = StoreReader.query(shape, foreign.model.entitySet("owner"))
        let fragment = try SQLCompiler(
            mapping: foreign.mapping, options: .init(now: ODataDateTimeOffset(seconds: 0))
        ).compile(query, at: bound.resource.steps).sqlFragment
        let queue = try DatabaseQueue(path: fixture.path)
        let plan = try queue.read { database -> [String] in
            StoreFunctions.register(in: database)
            return try Row.fetchAll(
                database, sql: "EXPLAIN QUERY PLAN \(fragment.sql)", arguments: StatementArguments(fragment.arguments)
            ).map { $0["detail"] }
        }
        #expect(plan.contains { $0.hasPrefix("SEARCH") } && !plan.contains { $0.hasPrefix("SCAN") }, "\(plan)")
    }

    @Test("A committed change succeeds even if its result cannot be read")
    func madeThoughUnreadable() async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE customer (id INTEGER PRIMARY KEY, born DATE);
            CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer);
            INSERT INTO customer VALUES (1, '2000-01-01');
            """)
        let database = try await ServedDatabase.open(path: fixture.path)
        let customer = try #require(database.model.shape(ofSet: "purchase")?.navigationProperties.first?.name)
        try fixture.elsewhere("UPDATE customer SET born = 'soon'")
        let purchase = try database.entity("purchase", ["customer_id": 1])
        let response = try await database.execute(
            try database.request(.create, "purchase?$expand=\(customer)", purchase))
        #expect(response.status == 201 && response.location == "purchase(1)")
        #expect(try fixture.value("SELECT COUNT(*) FROM purchase") == 1)
        try await database.close()
    }

    @Test("Texts in different Unicode normal forms are different, for changes and relations")
    func normalisationIsAChange() async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE city (name TEXT PRIMARY KEY, a TEXT);
            CREATE TABLE street (id INTEGER PRIMARY KEY, city_name TEXT REFERENCES city);
            INSERT INTO city VALUES (char(0xE9), char(0xE9)), ('e' || char(0x301), 'b');
            INSERT INTO street VALUES (1, char(0xE9)), (2, 'e' || char(0x301)), (3, 'e' || char(0x301));
            """)
        let database = try await ServedDatabase.open(path: fixture.path)
        let change = try database.entity("city", ["a": "e\u{301}"])
        _ = try await database.execute(try database.request(.update, "city('%C3%A9')", change))
        #expect(try fixture.value("SELECT hex(a) FROM city WHERE name = char(0xE9)") == "65CC81")
        let streets = try #require(database.model.shape(ofSet: "city")?.navigationProperties.first?.name)
        let cities = try await database.page("city?$expand=\(streets)&$orderby=name")
        let counts = cities.entities.map { city -> Int? in
            if case .many(let members, _, _)? = city.related[streets] { members.count } else { nil }
        }
        #expect(counts == [2, 1])
        try await database.close()
    }

    @Test("rule 28: a value that becomes invalid is an error that names row and column")
    func badValue() async throws {
        let fixture = try ForeignFixture(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, day DATE); INSERT INTO t VALUES (1, '2020-01-01')")
        let database = try await ServedDatabase.open(path: fixture.path)
        try fixture.elsewhere("INSERT INTO t VALUES (2, 'soon')")
        do {
            _ = try await database.page("t")
            Issue.record("no error")
        } catch let error as ODataError {
            #expect(error.status == 500 && error.message.contains("t.day") && error.message.contains("2"))
        }
        try await database.close()
    }

    @Test("Removing a relation that does not exist changes nothing")
    func unrelatedRows() async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE customer (id TEXT PRIMARY KEY NOT NULL);
            CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id TEXT REFERENCES customer(id));
            INSERT INTO customer VALUES ('A'), ('B');
            INSERT INTO orders VALUES (1, 'A'), (2, 'B');
            """)
        let database = try await ServedDatabase.open(path: fixture.path)
        let navigation = try #require(database.model.shape(ofSet: "customer")?.navigationProperties.first)
        for order in [2, 99] {
            let url = try ODataURL(parsing: "customer('A')/\(navigation.name)(\(order))/$ref")
            let error = await #expect(throws: ODataError.self) {
                try await database.execute(ODataRequest(.delete, url))
            }
            #expect(error?.status == 404)
        }
        #expect(try fixture.value("SELECT count(*) FROM orders") == 2)
        #expect(try fixture.value("SELECT customer_id FROM orders WHERE id = 2") == "B")
        try await database.close()
    }

    @Test("11.7.4 A request in a change set gets the same response as alone", arguments: [true, false])
    func changeSetAnswer(isAlone: Bool) async throws {
        let fixture = try ForeignFixture(ServedDatabaseTests.people)
        let database = try await ServedDatabase.open(path: fixture.path)
        let request = try database.request(
            .create, "person?$select=name", try database.entity("person", ["name": "Dan", "age": 50]))
        var response: ODataResponse
        if isAlone {
            response = try await database.execute(request)
        } else {
            let items = [BatchItem(id: "1", request: request, atomicityGroup: "g")]
            let batch = try ODataURL(parsing: "$batch")
            response = try await database.execute(ODataRequest(.create, batch, body: .batch(items)))
            guard case .batch(let results) = response.body else { throw ODataError.notFound("$batch") }
            response = try #require(results.first).result.get()
        }
        #expect(response.status == 201)
        guard case .entity(let dan) = response.body else { throw ODataError.notFound("entity") }
        #expect(dan["name"] == "Dan" && dan["age"] == nil)
        try await database.close()
    }

    @Test("11.4.6.3 A relation by a unique foreign key replaces the previous one")
    func singleDependent() async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE desk (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE lamp (id INTEGER PRIMARY KEY, desk_id INTEGER UNIQUE REFERENCES desk(id));
            INSERT INTO desk VALUES (1, 'left'), (2, 'right');
            INSERT INTO lamp VALUES (1, 1), (2, 2);
            """)
        let database = try await ServedDatabase.open(path: fixture.path)
        let navigation = try #require(database.model.shape(ofSet: "desk")?.navigationProperties.first)
        #expect(!navigation.isCollection)
        let url = try ODataURL(parsing: "desk(1)/\(navigation.name)/$ref")
        _ = try await database.execute(ODataRequest(.replace, url, body: .reference("lamp(2)")))
        #expect(try fixture.value("SELECT id FROM lamp WHERE desk_id = 1") == 2)
        #expect(try fixture.value("SELECT COUNT(*) FROM lamp WHERE desk_id IS NULL") == 1)
        try await database.close()
    }
}
