import Foundation
import ODataModel
import ODataStore

/// The initial rows of the service, from `data.json`, in which rows refer to each other by name.
enum ReferenceData {
    /// Returns the rows without keys, which are assigned each time they are inserted.
    ///
    /// - Throws: An error if the rows do not fit the model.
    static func rows(for model: EntityDataModel) throws -> SeedRows {
        try SeedRows(
            PackageResources.data_json,
            references: [
                SeedReference("CategoryName", to: "Category", by: "Name"),
                SeedReference("ProductName", to: "Product", by: "Name"),
            ], model: model)
    }

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
