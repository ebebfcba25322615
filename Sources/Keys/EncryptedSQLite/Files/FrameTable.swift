/// The page numbers of frames that one connection wrote in its present transaction; or, without shared memory, of all frames
/// that it wrote or recovered.
struct FrameTable {
    private var base = 1
    private var pages: [UInt32] = []

    /// The page of a frame, by SQLite's number of it.
    subscript(number: Int) -> UInt32? {
        let index = number - base
        return index >= 0 && index < pages.count ? pages[index] : nil
    }

    /// Notes a frame. One that neither is in the table nor follows its last one begins a new table.
    mutating func set(_ number: Int, page: UInt32) {
        let index = number - base
        if index >= 0, index < pages.count {
            pages[index] = page
        } else {
            if index != pages.count || pages.isEmpty {
                removeAll()
                base = number
            }
            pages.append(page)
        }
    }

    mutating func removeAll() { pages.removeAll(keepingCapacity: true) }
}
