import Foundation

/// The rows that the service begins with: `data.json`, where references between rows are names, with fresh keys.
enum ReferenceData {
    /// What is wrong with the rows; they are part of the program, so nobody who runs it can see this.
    struct Malformed: Error {}

    private typealias Row = [String: Any]

    /// The rows as one JSON object: a member for each entity set and singleton.
    static func rows() throws -> [UInt8] {
        var sets = try object()
        var keys: [String: [String: String]] = [:]
        for (set, value) in sets {
            if var row = value as? Row {
                row["ID"] = UUID().uuidString.lowercased()
                sets[set] = row
            }
            guard var rows = value as? [Row], set != "ProductDescriptions" else { continue }
            for index in rows.indices {
                let key = UUID().uuidString.lowercased()
                rows[index]["ID"] = key
                if let name = rows[index]["Name"] as? String { keys[set, default: [:]][name] = key }
            }
            sets[set] = rows
        }
        sets["Products"] = try resolve("CategoryName", in: sets["Products"], as: "CategoryID", keys["Categories"])
        sets["ProductDescriptions"] = try resolve(
            "ProductName", in: sets["ProductDescriptions"], as: "ProductID", keys["Products"])
        return Array(try JSONSerialization.data(withJSONObject: sets, options: [.sortedKeys]))
    }

    /// The prices by the names of the products.
    static func prices() throws -> [(name: String, price: Double)] {
        guard let products = try object()["Products"] as? [Row] else { throw Malformed() }
        return products.compactMap { row in
            guard let name = row["Name"] as? String, let price = row["Price"] as? Double else { return nil }
            return (name, price)
        }
    }

    private static func object() throws -> Row {
        guard let object = try JSONSerialization.jsonObject(with: Data(PackageResources.data_json)) as? Row else {
            throw Malformed()
        }
        return object
    }

    /// Replaces names by keys.
    private static func resolve(
        _ name: String, in rows: Any?, as property: String, _ keys: [String: String]?
    ) throws -> [Row] {
        guard let rows = rows as? [Row], let keys else { throw Malformed() }
        return rows.map { row in
            var row = row
            if let referenced = row.removeValue(forKey: name) as? String { row[property] = keys[referenced] }
            return row
        }
    }
}
