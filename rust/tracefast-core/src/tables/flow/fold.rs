//! The folds: events in order to the graph, and that to a table.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::tables::flow::graph::{Columns, Graph};
use crate::tables::flow::process_names::ProcessNames;
use crate::tables::flow::{By, table};
use crate::tables::fold::RowFold;

/// The edges so far.
///
/// # Examples
/// ```
/// use tracefast_core::tables::flow::{By, Flow};
/// use tracefast_core::tables::fold::Fold;
/// let table = Flow::new(By::Process).finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("dst_kind").is_some());
/// ```
#[derive(Debug)]
pub struct Flow {
    by: By,
    graph: Graph,
    /// Once the roles were taken, the names of processes: the edges have the same.
    names: Option<ProcessNames>,
}

impl Flow {
    /// A table without events.
    pub fn new(by: By) -> Self {
        Self { by, graph: Graph::default(), names: None }
    }

    /// What the logs lack, so that the graph does: `calls`, `names`, `addresses`, `children`.
    pub fn gaps(&self) -> Vec<&'static str> {
        self.graph.gaps()
    }

    /// The table of [`Roles`], which follows from the same rows. No rows may come after that.
    ///
    /// # Errors
    /// Never in practice: all columns have the same length.
    pub fn roles(&mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        let graph = &mut self.graph;
        let names = self.names.get_or_insert_with(|| ProcessNames::of_graph(graph));
        table::roles(graph, Some(names))
    }
}

impl RowFold for Flow {
    type Columns<'a> = Columns<'a>;

    fn empty(&self) -> Self {
        Self::new(self.by)
    }

    fn row(&mut self, columns: &mut Self::Columns<'_>, row: usize) {
        self.graph.row(columns, row);
    }

    /// The table, in order of source and first use.
    fn table(mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        let names = self.names.unwrap_or_else(|| ProcessNames::of_graph(&mut self.graph));
        table::edges(self.graph, &names, self.by)
    }
}

/// The files so far, and what was done to them.
///
/// # Examples
/// ```
/// use tracefast_core::tables::flow::Roles;
/// use tracefast_core::tables::fold::Fold;
/// let table = Roles::default().finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("role").is_some());
/// ```
#[derive(Debug, Default)]
pub struct Roles {
    graph: Graph,
}

impl Roles {
    /// A table without the columns of who wrote and read the files: it needs no edges.
    pub fn without_users() -> Self {
        let mut roles = Self::default();
        roles.graph.edges.unwanted = true;
        roles
    }

    /// What the logs lack, as for [`Flow::gaps`].
    pub fn gaps(&self) -> Vec<&'static str> {
        self.graph.gaps()
    }
}

impl RowFold for Roles {
    type Columns<'a> = Columns<'a>;

    fn empty(&self) -> Self {
        if self.graph.edges.unwanted { Self::without_users() } else { Self::default() }
    }

    fn row(&mut self, columns: &mut Self::Columns<'_>, row: usize) {
        self.graph.row(columns, row);
    }

    /// The table, in order of source and path.
    fn table(mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        let users = !self.graph.edges.unwanted;
        let names = users.then(|| ProcessNames::of_graph(&mut self.graph));
        table::roles(&self.graph, names.as_ref())
    }
}
