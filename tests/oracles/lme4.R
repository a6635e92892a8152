# Variance components of pass counts by lme4 (REML): writes lme4.json. Run it here: Rscript lme4.R
# Debian: apt-get install r-cran-lme4. Equal runs, and a spread above zero, where REML is ANOVA.
suppressMessages(library(lme4))

tables <- list(
  list(passes = c(3, 3, 1, 1, 1, 0), runs = 3),
  list(passes = c(2, 2, 0, 0, 0, 2), runs = 3),
  list(passes = c(5, 5, 5, 4, 3, 5, 0, 0, 1, 5, 2, 5, 5, 4, 0), runs = 5),
  list(passes = c(2, 0, 2, 1, 2, 2, 0, 0, 1, 2, 2, 1, 2, 2, 2, 0, 2, 1), runs = 2),
  list(passes = c(10, 9, 10, 0, 3, 10, 8, 10, 10, 1, 7), runs = 10)
)

fitted <- function(t) {
  long <- data.frame(
    problem = rep(seq_along(t$passes), each = t$runs),
    outcome = unlist(lapply(t$passes, function(k) rep(c(1, 0), c(k, t$runs - k))))
  )
  model <- lmer(outcome ~ 1 + (1 | problem), long,
                control = lmerControl(optCtrl = list(rhoend = 1e-12)))
  v <- as.data.frame(VarCorr(model))$vcov
  sprintf('{"passes": [%s], "runs": %d, "between": %.12g, "within": %.12g, "mean": %.12g, "se": %.12g}',
          paste(t$passes, collapse = ", "), t$runs, v[1], v[2], fixef(model),
          sqrt(as.numeric(vcov(model))))
}

version <- sprintf("%s.%s, lme4 %s", R.version$major, R.version$minor, packageVersion("lme4"))
rows <- paste(sapply(tables, fitted), collapse = ",\n  ")
writeLines(sprintf('{"made_by": "R %s", "tables": [\n  %s\n]}', version, rows), "lme4.json")
