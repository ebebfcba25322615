import Foundation
import ODataModel
import ODataQuery
import ODataService
import ObjectAPI

/// Dynamic queries and a large attribute: totals by city, a union of names, and the photo of a customer.
struct Report {
    let root: String

    func run() async throws {
        let (crm, folder) = try await openCrm(root)
        try await crm.synchronize()
        try await printTotals(crm)
        try await printNames(crm)
        let id = try await sendPhoto(crm)
        try close(crm, folder)
        try await readPhoto(of: id)
    }

    /// Joins customers with their orders, and groups them by city.
    private func printTotals(_ crm: CrmDatabase) async throws {
        let c = QueryAlias<Customer>("c"), o = QueryAlias<SalesOrder>("o")
        let totals = DynamicQuery.from(c).join(o, on: o.customerID == c.id)
            .groupBy(c.city).having(o.amount.sum > 1)
            .select(c.city, o.amount.sum.named("total"), o.id.count.named("orders"))
            .orderBy(o.amount.sum, descending: true)
        for row in try await crm.execute(totals) {
            let city = try row.optional("City", as: String.self) ?? "elsewhere"
            let (total, orders) = (
                try row.value("total", as: ODataDecimal.self), try row.value("orders", as: Int64.self)
            )
            print("\(city): \(total) in \(orders) orders")
        }
    }

    /// Combines the customers with large orders and those whose names begin with B.
    private func printNames(_ crm: CrmDatabase) async throws {
        let c = QueryAlias<Customer>("c"), o = QueryAlias<SalesOrder>("o")
        let large = DynamicQuery.from(o).where(o.customerID == c.id && o.amount > 30)
        let names = DynamicQuery.from(c).where(large.exists).select(c.lastName)
            .union(DynamicQuery.from(c).where(c.lastName.startsWith("B")).select(c.lastName))
            .orderBy(.column("LastName"))
        let found = try await crm.execute(names)
        print("names: \(try found.map { try $0.value("LastName", as: String.self) }.joined(separator: ", "))")
    }

    /// Writes the photo of a customer in pieces, and sends it.
    private func sendPhoto(_ crm: CrmDatabase) async throws -> Int64 {
        guard let jones = try await crm.customers.filter(\.lastName == "Jones").first(), let id = jones.id else {
            fatalError("Jones is missing")
        }
        try await crm.large(\.photo, of: jones).write(byteCount: 3000, contentType: "image/png") { writer in
            for piece in 0..<6 { try await writer.write([UInt8](repeating: UInt8(piece), count: 500)) }
        }
        try await crm.submitPending(jones)
        print("\(try await crm.synchronize().accepted) photo accepted")
        return id
    }

    /// Reads the photo in pieces in another database, which loads it from the service.
    private func readPhoto(of id: Int64) async throws {
        let (crm, folder) = try await openCrm(root)
        try await crm.synchronize()
        let photo = crm.large(\.photo, of: try await crm.customers.load(id))
        try await photo.load()
        let reader = try await photo.openForReading()
        var sizes: [String] = []
        while let piece = try await reader.read(upTo: 1024) { sizes.append("\(piece.count)") }
        try await reader.seek(to: 2500)
        let byte = try await reader.readByte() ?? 0
        try await reader.close()
        print("photo in pieces of \(sizes.joined(separator: ", ")) bytes; byte 2500 is \(byte)")
        try close(crm, folder)
    }
}
