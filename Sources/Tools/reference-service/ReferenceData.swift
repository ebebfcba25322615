import Foundation
import ODataModel
import ODataStore

/// The rows that the service begins with: `data.json`, where references between rows are names.
enum ReferenceData {
    /// The rows, without keys: each time they are put in, they get new ones.
    ///
    /// - Throws: when they do not fit the model.
    static func rows(for model: EntityDataModel) throws -> SeedRows {
        try SeedRows(
            PackageResources.data_json,
            references: [
                SeedReference("CategoryName", to: "Category", by: "Name"),
                SeedReference("ProductName", to: "Product", by: "Name"),
            ], model: model)
    }

    /// The prices by the names of the products.
    static func prices() throws -> [String: Double] {
        struct Rows: Decodable {
            struct Product: Decodable {
                var Name: String
                var Price: Double
            }
            var Products: [Product]
        }
        let rows = try JSONDecoder().decode(Rows.self, from: Data(PackageResources.data_json))
        return Dictionary(rows.Products.map { ($0.Name, $0.Price) }) { first, _ in first }
    }
}
